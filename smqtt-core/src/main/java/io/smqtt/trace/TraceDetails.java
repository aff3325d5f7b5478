// SPDX-License-Identifier: Apache-2.0
package io.smqtt.trace;

import io.smqtt.message.ReasonCode;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Collects the details of an event, in order. */
public final class TraceDetails {

    private final Map<String, Object> all = new LinkedHashMap<>();

    /** Creates it without details. */
    public TraceDetails() {}

    /**
     * Adds a number.
     *
     * @param name the name of the detail
     * @param value the number
     * @return this
     */
    public TraceDetails with(String name, long value) {
        all.put(name, value);
        return this;
    }

    /**
     * Adds a boolean.
     *
     * @param name the name of the detail
     * @param value the boolean
     * @return this
     */
    public TraceDetails with(String name, boolean value) {
        all.put(name, value);
        return this;
    }

    /**
     * Adds a text, unless there is none.
     *
     * @param name the name of the detail
     * @param value the text; may have any characters of a client
     * @return this
     */
    public TraceDetails with(String name, @Nullable String value) {
        if (value != null) {
            all.put(name, value);
        }
        return this;
    }

    /**
     * Adds a constant, in lower case.
     *
     * @param name the name of the detail
     * @param value the constant
     * @return this
     */
    public TraceDetails with(String name, Enum<?> value) {
        all.put(name, value.name().toLowerCase(Locale.ROOT));
        return this;
    }

    /**
     * Adds the code and the name of a reason code.
     *
     * @param reason the reason code
     * @return this
     */
    public TraceDetails reason(ReasonCode reason) {
        return with("reason_code", reason.value()).with("reason", reason);
    }

    /**
     * Adds a list.
     *
     * @param name the name of the detail
     * @param values texts and numbers
     * @return this
     */
    public TraceDetails with(String name, Iterable<?> values) {
        all.put(name, values);
        return this;
    }

    /**
     * Returns the details.
     *
     * @return the values by name, in order
     */
    public Map<String, Object> toMap() {
        return Collections.unmodifiableMap(all);
    }
}
