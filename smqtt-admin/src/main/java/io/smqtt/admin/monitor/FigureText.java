// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.monitor;

import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;

/**
 * A server-sent event whose data are figures in JSON. The text is reused: an event once a second is mostly run by the interpreter of Java, where
 * a general writer of JSON costs several times as much. For one thread at a time.
 */
final class FigureText implements FigureSink {

    private static final int HUNDREDTHS = 100;

    private final StringBuilder text = new StringBuilder(1_024);

    /**
     * Writes an event.
     *
     * @param name its name, in ASCII without line breaks
     * @param content puts the figures, whose names are ASCII without quotation marks
     * @return the complete event
     */
    byte[] event(String name, Consumer<FigureSink> content) {
        text.setLength(0);
        text.append("event: ").append(name).append("\ndata: ");
        object(content);
        return text.append("\n\n").toString().getBytes(StandardCharsets.ISO_8859_1);
    }

    private void object(Consumer<FigureSink> content) {
        text.append('{');
        content.accept(this);
        text.append('}');
    }

    private StringBuilder name(String name) {
        if (text.charAt(text.length() - 1) != '{') {
            text.append(',');
        }
        return text.append('"').append(name).append("\":");
    }

    @Override
    public void put(String name, long value) {
        name(name).append(value);
    }

    @Override
    public void put(String name, double value) {
        long hundredths = Math.round(value * HUNDREDTHS);
        if (hundredths < 0) {
            throw new IllegalArgumentException(name + " is negative: " + value);
        }
        name(name).append(hundredths / HUNDREDTHS);
        int rest = (int) (hundredths % HUNDREDTHS);
        if (rest > 0) {
            text.append('.').append((char) ('0' + rest / 10)).append((char) ('0' + rest % 10));
        }
    }

    @Override
    public void put(String name, Consumer<FigureSink> content) {
        name(name);
        object(content);
    }
}
