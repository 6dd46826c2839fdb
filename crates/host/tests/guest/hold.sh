#!/bin/sh
# A scheduler as a program: it registers the BPF object that it is given, and holds it until it is asked to end.
pins=/sys/fs/bpf/hold
trap 'rm -rf "$pins"; exit 0' INT TERM
mkdir "$pins" || exit 1
bpftool struct_ops register "$1" "$pins" || exit 1
while :; do
    sleep 0.1
done
