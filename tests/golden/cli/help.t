# relayc help, manual pages, completion scripts: from the one table of options, so that none lacks one of them.
$ relayc help exit-codes
  0    all went well
  1    the model, or a check, failed: an unsupported operator, a budget exceeded, a difference
  2    usage: an unknown option, a value that is none
  3    input or output: a file that is not there, a full disk, memory
  70   a bug in relayc
  128+N  a signal: 130 is an interrupt
$ relayc help ram
      --ram BYTES               limit of the arena, such as 64K or 1.5M; if necessary, layers are
                                tiled depth-first (docs/guide/memory.md). Without it they are tiled
                                where that is faster (--target sapphirerapids)
                                (compile, run, verify, bench, search, diff, analyze, report)
      --ram BYTES               recommend what needs no larger arena
                                (quantize)
$ relayc help eval | sed -n '1,9p'
relayc eval MODEL.onnx [options]

say what a model is worth on labelled data: top-1, mAP ... in f32 or any --precision

Judges a model by the metric of its task on labelled data: top-1, area under the curve, mAP ...

    relayc eval kws.onnx --data val/ --labels val/labels.txt --metric top1 --precision fp8

The page: docs/guide/eval.md.
$ relayc help R0303 | sed -n 1p
R0303: a dimension of an input is not bound
$ relayc help memroy
error[R0501]: no help for 'memroy'
help: did you mean 'memory'?
[2]
$ relayc help xyzzy
error[R0501]: no help for 'xyzzy'
help: 'relayc help' lists the commands and topics
[2]
$ relayc help memory --format man
error[R0501]: only commands have manual pages, 'memory' is none
[2]
# No line of --help is longer than 100 columns; each command has an example, and all that --help lists is in its manual
# page and in all completion scripts.
$ relayc completion bash > b; bash -n b && echo bash reads it
bash reads it
$ python3 $TESTS/e2e/check_help.py
19 commands: --help, manual pages and completion agree
# groff has nothing to say about the pages.
$ ! command -v groff >/dev/null || for c in '' compile run; do relayc help $c --format man | LC_ALL=C groff -man -Tascii -ww 2>&1 >/dev/null; done
# What bash completes.
$ touch t.txt; bash -c '. ./b; t() { COMP_WORDS=("$@"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMPREPLY=(); _relayc; echo "$*: ${COMPREPLY[*]}"; }; t relayc co; t relayc compile --rep; t relayc compile --target cortex-m3; t relayc compile --target = rv6; t relayc help mem; t relayc compile x.onnx --qtable t.; t relayc compile --topk ""'
relayc co: compile compare completion
relayc compile --rep: --report
relayc compile --target cortex-m3: cortex-m3 cortex-m33
relayc compile --target = rv6: rv64gc rv64gcv
relayc help mem: memory
relayc compile x.onnx --qtable t.: t.txt
relayc compile --topk : 
# Each word that is completed behind an option is one that it takes.
$ sed -n "s/^    --\([a-z-]*\)) words='\(.*\)' ;;/\1 \2/p" b | grep -v -e ^target -e ^board | while read -r option words; do for c in search run compile; do sed -n "/^        $c) words=/p" b | grep -q -e " --$option\b" && command=$c; done; for word in $words; do relayc $command none.onnx --$option $word 2>&1 | grep -e "--$option: '"; done; done; relayc compile none.onnx --optimize fast 2>&1 | grep -c -e "--optimize: '"
1
$ relayc completion csh
error[R0501]: completion: expected bash, zsh or fish, found 'csh'
[2]
