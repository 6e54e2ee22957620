package main

import (
	"math"
	"strconv"

	"github.com/anishathalye/porcupine"
)

// operation is a line of a history; ../history.py writes them.
type operation struct {
	Key      string  `json:"key"`
	Verb     string  `json:"verb"`     // get, set, add, cas, delete or incr
	Argument string  `json:"argument"` // the new value; of incr, the summand
	Expected string  `json:"expected"` // of cas: the value whose version must still be the current one
	Outcome  string  `json:"outcome"`  // ok, fail (has no effect) or unknown (may take effect at any later time)
	Result   *string `json:"result"`   // the answer, of get the value; null: a miss, or no answer
	Invoke   int64   `json:"invoke"`
	Return   int64   `json:"return"`
}

// value is the state of one key.
type value struct {
	present bool
	text    string
}

func stored(text string) value { return value{true, text} }

// apply returns the answer to an operation, and the state after it.
func apply(o operation, now value) (string, value) {
	switch {
	case o.Verb == "get":
		return now.text, now
	case o.Verb == "set":
		return "STORED", stored(o.Argument)
	case o.Verb == "add" && now.present:
		return "NOT_STORED", now
	case o.Verb == "add":
		return "STORED", stored(o.Argument)
	case !now.present:
		return "NOT_FOUND", now
	case o.Verb == "delete":
		return "DELETED", value{}
	case o.Verb == "cas" && now.text != o.Expected:
		return "EXISTS", now
	case o.Verb == "cas":
		return "STORED", stored(o.Argument)
	}
	return increased(o, now)
}

func increased(o operation, now value) (string, value) {
	number, err := strconv.ParseUint(now.text, 10, 64)
	by, wrong := strconv.ParseUint(o.Argument, 10, 64)
	if err != nil || wrong != nil {
		return "CLIENT_ERROR", now
	}
	sum := strconv.FormatUint(number+by, 10)
	return sum, stored(sum)
}

// step accepts an operation if its answer is the one of the sequential store.
func step(state, input, _ interface{}) (bool, interface{}) {
	o, now := input.(operation), state.(value)
	answer, next := apply(o, now)
	if o.Outcome == "unknown" {
		return true, next
	}
	if o.Verb == "get" {
		return now.present == (o.Result != nil) && (o.Result == nil || *o.Result == answer), next
	}
	return o.Result != nil && *o.Result == answer, next
}

// model is the sequential store with one key: values of different keys are independent.
var model = porcupine.Model{
	Init: func() interface{} { return value{} },
	Step: step,
}

// intervals returns the operations that count. One without an answer ends never: it may take effect at
// any later time, or after all others, which is the same as never.
func intervals(history []operation) []porcupine.Operation {
	var all []porcupine.Operation
	for _, o := range history {
		end := o.Return
		if o.Outcome == "fail" || o.Outcome == "unknown" && o.Verb == "get" {
			continue
		}
		if o.Outcome == "unknown" {
			end = math.MaxInt64
		}
		all = append(all, porcupine.Operation{Input: o, Call: o.Invoke, Return: end})
	}
	return all
}
