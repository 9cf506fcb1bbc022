#!/bin/bash
# The may-use rows of ARCHITECTURE.md: a file includes only from rows below its own, and from its own folder. Only sys/ includes <linux/...>.
. "$(dirname "$0")/lib.sh"
src=$tests_dir/../src

# Top to bottom; folders of one row are siblings and do not include each other.
rows=(
	"cli"
	"task fleet serve"
	"sandbox/native sandbox/oci sandbox/docker supervise gate/relay gate/egress check image"
	"gate/inference sandbox/common"
	"policy plan vault audit"
	"http tls lang conf"
	"model"
	"loop wire"
	"sys"
	"base"
)
# cordon-init is placed inside sandboxes: what it does not include cannot be attacked there.
init_uses="base sys wire model sandbox/common"
# So are the agents' programs.
agent_uses="base http"

row_of()
{
	local i
	for i in "${!rows[@]}"; do
		case " ${rows[i]} " in *" $1 "*) echo "$i"; return ;; esac
	done
	return 1
}

# The folder of "base/buf.h" or "sandbox/native/plan.h".
folder_of()
{
	printf '%s\n' "${1%/*}"
}

may_include()
{
	local from=$1 to=$2 a b
	[ "$from" = "$to" ] && return 0
	if [ "$from" = init ]; then
		case " $init_uses " in *" $to "*) return 0 ;; esac
		return 1
	fi
	if [ "$from" = agent ]; then
		case " $agent_uses " in *" $to "*) return 0 ;; esac
		return 1
	fi
	a=$(row_of "$from") && b=$(row_of "$to") && [ "$a" -lt "$b" ]
}

check_folder()
{
	local folder=$1 file line to bad=0
	for file in "$src/$folder"/*.[ch]; do
		[ -e "$file" ] || continue
		while IFS= read -r line; do
			to=${line#*\"}
			to=${to%%\"*}
			case $to in
			*/*) may_include "$folder" "$(folder_of "$to")" ||
				{ echo "${file#"$src"/} must not include $to"; bad=1; } ;;
			*) echo "${file#"$src"/} includes \"$to\" without its folder"; bad=1 ;;
			esac
		done < <(grep -E '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' "$file")
	done
	return "$bad"
}

only_sys_includes_linux()
{
	! grep -rnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*<(linux|asm)/' "$src" --include='*.[ch]' | grep -v "^$src/sys/"
}

every_folder_has_a_row()
{
	local f bad=0
	while IFS= read -r f; do
		f=${f#"$src"/}
		f=${f%/*}
		[ "$f" = init ] || [ "$f" = agent ] || row_of "$f" >/dev/null || { echo "src/$f is in no row"; bad=1; }
	done < <(find "$src" -name '*.[ch]')
	return "$bad"
}

files_and_functions_stay_readable()
{
	local f n bad=0
	while IFS= read -r f; do
		n=$(wc -l <"$f")
		[ "$n" -le 800 ] || { echo "${f#"$src"/}: $n lines (at most 800)"; bad=1; }
		awk -v f="${f#"$src"/}" '/^\{/ { start = NR } /^\}/ { if (start && NR - start > 71) { print f ":" start ": " NR - start - 1 " lines (at most 70)"; bad = 1 } start = 0 }
			END { exit bad }' "$f" || bad=1
	done < <(find "$src" -name '*.c')
	return "$bad"
}

# What is cleaned up at the end of a scope must hold something that can be: an early return reaches it too.
what_is_cleaned_up_is_initialised()
{
	! grep -rnE '^[[:space:]]*AUTO_(FD|BUF|FREE)[^=]*;' "$src" --include='*.c'
}

# One place has one name, whatever a library's realpath() makes of "//" (base/real_path.h).
only_one_calls_realpath()
{
	! grep -rnE '\brealpath\(' "$src" --include='*.c' | grep -vE '^[^:]*base/real_path\.c:|:[[:space:]]*(/\*|\*)'
}

# What joins the lines of a table in a comment leaves this behind: it is no table any more then.
no_comment_was_joined()
{
	! grep -rnE '^ \*[a-z]' "$src" "$src/../tests" --include='*.h' --include='*.c'
}

ok "comments are as they were written" no_comment_was_joined
ok "only base/real_path.c calls realpath()" only_one_calls_realpath
ok "what is cleaned up at a scope's end is initialised" what_is_cleaned_up_is_initialised
ok "every source folder has a row" every_folder_has_a_row
for folder in $(cd "$src" && find . -name '*.[ch]' -printf '%h\n' | sort -u | sed 's|^\./||'); do
	ok "$folder includes only from rows below" check_folder "$folder"
done
ok "only sys includes the kernel's headers" only_sys_includes_linux
ok "files stay under 800 lines, functions under 70" files_and_functions_stay_readable
finish
