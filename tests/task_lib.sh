# Images for the suites of tasks, made from this machine's Debian packages: no registry is asked. Source it behind lib.sh.
#
#	cordon-test/base	busybox alone
#	cordon-test/python	bash, coreutils, python3 and pytest beside it

# copy_programs ROOT PROGRAM...: with the libraries that they load
copy_programs()
{
	local root=$1 file
	shift
	for file in "$@"; do
		{ printf '%s\n' "$file"; ldd "$file" 2>/dev/null | grep -o '/[^ )]*'; } | while read -r file; do
			[ -e "$root$file" ] && continue
			mkdir -p "$root${file%/*}"
			cp -L "$file" "$root$file"
		done
	done
}

make_base_root()
{
	local root=$1 name
	mkdir -p "$root"/{bin,etc,tmp,root,usr/bin,usr/sbin,var/tmp}
	chmod 1777 "$root/tmp" "$root/var/tmp"
	cp "$(command -v busybox)" "$root/bin/busybox"
	for name in $("$root/bin/busybox" --list); do
		[ "$name" = busybox ] || ln -sf busybox "$root/bin/$name"
	done
	echo 'root:x:0:0:root:/root:/bin/sh' >"$root/etc/passwd"
	echo 'root:x:0:' >"$root/etc/group"
}

make_python_root()
{
	local root=$1 python=/usr/bin/python3.11 lib=/usr/lib/python3
	make_base_root "$root"
	mkdir -p "$root/usr/lib/python3.11" "$root$lib/dist-packages"
	rm -f "$root/bin/bash" "$root/bin/sh"
	copy_programs "$root" /bin/bash "$python"
	ln -sf bash "$root/bin/sh"
	ln -sf python3.11 "$root/usr/bin/python3"
	(cd /usr/lib/python3.11 && tar -cf - --exclude=__pycache__ --exclude=test --exclude=idlelib --exclude=lib2to3 --exclude=tkinter --exclude='config-*' .) | tar -xf - -C "$root/usr/lib/python3.11"
	find /usr/lib/python3.11/lib-dynload -name '*.so' -exec ldd {} + 2>/dev/null | grep -o '=> /[^ )]*' | cut -c4- | sort -u | while read -r file; do
		[ -e "$root$file" ] || { mkdir -p "$root${file%/*}" && cp -L "$file" "$root$file"; }
	done
	(cd "$lib/dist-packages" && tar -cf - --exclude=__pycache__ $(ls -d pytest _pytest py py.py pluggy iniconfig attr attrs packaging pytest-*.egg-info pluggy-*.egg-info pluggy-*.dist-info pytest-*.dist-info 2>/dev/null)) | tar -xf - -C "$root$lib/dist-packages"
	mkdir -p "$root/etc/ld.so.conf.d"
	cp -r /etc/ld.so.conf /etc/ld.so.conf.d "$root/etc/" 2>/dev/null
	cp /etc/ld.so.cache "$root/etc/"
}

# task_images: both of them in the user's store; the folder of roots is made once for all suites
task_images()
{
	local roots=${TASK_ROOTS:-$tmp/roots} name
	for name in "$@"; do
		[ -d "$roots/$name" ] || { "make_${name}_root" "$roots/$name.new" && mv "$roots/$name.new" "$roots/$name"; }
		"$CORDON" image import "cordon-test/$name" "$roots/$name" >/dev/null || return 1
	done
}
