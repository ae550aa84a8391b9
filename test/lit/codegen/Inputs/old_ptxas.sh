#!/bin/sh
# Stands for a ptxas that is older than B200, and for some that fail ($REFUSES).
#   ptxas -arch=WHICH -O3 SOURCE -o IMAGE
case "$REFUSES$1" in
-arch=sm_100) echo "ptxas fatal   : Value 'sm_100' is not defined for option 'gpu-name'" >&2; exit 1 ;;
-arch=*) printf '\177ELF' >"$5" ;;
silently*) exit 3 ;;
later*) echo machine code >"$5" ;;
*) echo "ptxas fatal   : Unresolved extern function" >&2; exit 1 ;;
esac
