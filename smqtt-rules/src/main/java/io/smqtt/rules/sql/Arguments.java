// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sql;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The arguments of one call of a function, counted from 0; messages count from 1. */
final class Arguments {

    private final String function;
    private final @Nullable Object[] values;
    private final Frame frame;

    Arguments(String function, @Nullable Object[] values, Frame frame) {
        this.function = function;
        this.values = values;
        this.frame = frame;
    }

    Meter meter() {
        return frame.meter;
    }

    /** A field of the event. */
    @Nullable
    Object field(String name) {
        return frame.field(name);
    }

    /** The payload as JSON, read once for all rules of the message. */
    SharedPayload payload() {
        return frame.input.payload();
    }

    int count() {
        return values.length;
    }

    @Nullable
    Object value(int index) {
        return values[index];
    }

    /** Text; numbers, booleans, lists and maps count as the text that they are written as. */
    String text(int index) {
        Object value = values[index];
        if (value instanceof String text) {
            meter().read(text.length());
            return text;
        }
        if (value == null || value == Values.NULL) {
            throw wrong(index, "text");
        }
        return Values.text(value, meter());
    }

    /** Text that is one, or the default if there is no such argument. */
    String text(int index, String otherwise) {
        return index < values.length ? text(index) : otherwise;
    }

    /** Text or bytes as bytes. */
    byte[] bytes(int index) {
        byte[] bytes = Values.bytes(values[index], meter());
        if (bytes != null) {
            meter().read(bytes.length);
            return bytes;
        }
        byte[] text = Values.bytes(text(index), meter());
        return text == null ? new byte[0] : text;
    }

    /** A number of any kind. */
    Object number(int index) {
        Object value = values[index];
        if (!Values.isNumber(value)) {
            throw wrong(index, "a number");
        }
        return value;
    }

    double real(int index) {
        return Operators.real(number(index));
    }

    /** An integer of 64 bits. */
    long integer(int index) {
        if (values[index] instanceof Long number) {
            return number;
        }
        throw wrong(index, "an integer");
    }

    /** An integer between bounds, both included. */
    long integer(int index, long least, long most) {
        long number = integer(index);
        if (number < least || number > most) {
            throw new RuleFailure(function + ": argument " + (index + 1) + " must be from " + least + " to " + most);
        }
        return number;
    }

    List<?> list(int index) {
        if (values[index] instanceof List<?> list) {
            return list;
        }
        throw wrong(index, "an array");
    }

    /** A map; text that is the JSON of one counts. */
    Map<?, ?> map(int index) {
        Object value = values[index];
        if (value instanceof Map<?, ?> map) {
            return map;
        }
        if (Values.isText(value) && json(index) instanceof Map<?, ?> map) {
            return map;
        }
        throw wrong(index, "a map");
    }

    /** The JSON that the text is. */
    @Nullable
    Object json(int index) {
        Object value = values[index];
        if (!Values.isText(value)) {
            throw wrong(index, "text");
        }
        if (payload().isValue(value)) {
            return payload().tree(meter());
        }
        meter().make(value instanceof byte[] bytes ? bytes.length : ((String) value).length());
        return Json.read(value, function + ": argument " + (index + 1));
    }

    /** The failure for an argument of another kind. */
    RuleFailure wrong(int index, String wanted) {
        return new RuleFailure(
                function + ": argument " + (index + 1) + " must be " + wanted + ", not " + Values.kind(values[index]));
    }

    /** A failure of the function for another reason. */
    RuleFailure failure(String reason) {
        return new RuleFailure(function + ": " + reason);
    }
}
