# how it could be done
