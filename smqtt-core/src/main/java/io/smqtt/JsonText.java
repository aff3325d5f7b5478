// SPDX-License-Identifier: Apache-2.0
package io.smqtt;

import org.jspecify.annotations.Nullable;

/** An object in JSON, of plain values. For one thread. */
final class JsonText {

    private final StringBuilder json = new StringBuilder(256).append('{');

    /** Adds a text; null becomes JSON's null. */
    JsonText put(String name, @Nullable String text) {
        name(name);
        if (text == null) {
            json.append("null");
        } else {
            quote(text);
        }
        return this;
    }

    JsonText put(String name, long number) {
        name(name);
        json.append(number);
        return this;
    }

    JsonText put(String name, boolean flag) {
        name(name);
        json.append(flag);
        return this;
    }

    JsonText put(String name, JsonText object) {
        name(name);
        json.append(object);
        return this;
    }

    private void name(String name) {
        if (json.length() > 1) {
            json.append(',');
        }
        quote(name);
        json.append(':');
    }

    private void quote(String text) {
        json.append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                json.append('\\').append(c);
            } else if (c < ' ') {
                json.append("\\u00").append(Character.forDigit(c >> 4, 16)).append(Character.forDigit(c & 0xf, 16));
            } else {
                json.append(c);
            }
        }
        json.append('"');
    }

    /** {@return the complete object} */
    @Override
    public String toString() {
        return json + "}";
    }
}
