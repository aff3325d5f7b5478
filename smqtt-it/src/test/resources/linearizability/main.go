// SPDX-License-Identifier: Apache-2.0

// Checks histories of registers for linearizability, with Porcupine.
//
// Each line of standard input is an operation: the register, the client, "read" or "write", the value, and when it was called and when it
// returned. The value is a number, 0 is the value of a register that was not written. An operation whose result is not known has the time
// 9223372036854775807 as its end.
//
// Exit code 0: the history is linearizable. 1: it is not; the registers are named. 2: not decided within a minute. 3: bad input.
package main

import (
	"bufio"
	"fmt"
	"os"
	"time"

	"github.com/anishathalye/porcupine"
)

const patience = time.Minute

type operation struct {
	register string
	write    bool
	value    int
}

var register = porcupine.Model{
	Init: func() interface{} { return 0 },
	Step: func(state, input, output interface{}) (bool, interface{}) {
		op := input.(operation)
		if op.write {
			return true, op.value
		}
		return output.(int) == state.(int), state
	},
	DescribeOperation: func(input, output interface{}) string {
		op := input.(operation)
		if op.write {
			return fmt.Sprintf("%s := %d", op.register, op.value)
		}
		return fmt.Sprintf("%s = %d", op.register, output.(int))
	},
}

func main() {
	histories := map[string][]porcupine.Operation{}
	names := []string{}
	lines := bufio.NewScanner(os.Stdin)
	for number := 1; lines.Scan(); number++ {
		var name, kind string
		var client, value int
		var call, end int64
		_, err := fmt.Sscan(lines.Text(), &name, &client, &kind, &value, &call, &end)
		if err != nil || (kind != "read" && kind != "write") {
			fmt.Fprintf(os.Stderr, "line %d is no operation: %q\n", number, lines.Text())
			os.Exit(3)
		}
		if _, known := histories[name]; !known {
			names = append(names, name)
		}
		histories[name] = append(histories[name], porcupine.Operation{
			ClientId: client,
			Input:    operation{name, kind == "write", value},
			Output:   value,
			Call:     call,
			Return:   end,
		})
	}
	if err := lines.Err(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
	code := 0
	for _, name := range names {
		result := porcupine.CheckOperationsTimeout(register, histories[name], patience)
		fmt.Printf("%s: %d operations: %s\n", name, len(histories[name]), result)
		switch {
		case result == porcupine.Illegal:
			code = 1
		case result == porcupine.Unknown && code == 0:
			code = 2
		}
	}
	os.Exit(code)
}
