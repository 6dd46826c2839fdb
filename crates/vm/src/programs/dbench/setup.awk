# From the head of dbench's load to shell commands that leave its directories and files. The files are sparse.
{ split($0, part, "\""); split(part[3], word, " "); gsub(/\\/, "/", part[2]) }
$1 == "NTCreateX" && word[1] == "0x1" { print "mkdir -p \"." part[2] "\"" }
$1 == "NTCreateX" && word[1] != "0x1" { name[word[3]] = part[2]; size[part[2]] += 0 }
$1 == "WriteX" && $3 + $4 > size[name[$2]] { size[name[$2]] = $3 + $4 }
END { for (path in size) print "truncate -s " size[path] " \"." path "\"" }
