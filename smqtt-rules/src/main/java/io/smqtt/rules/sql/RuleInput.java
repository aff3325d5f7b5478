// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sql;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One message or event, as the rules that apply to it see it.
 *
 * <p>Rules of a message that are evaluated with the same instance, one after the other on one thread, read the payload as JSON at most once
 * for one rule and once for all others. Fields are asked for when a rule needs them, and only then.
 */
public abstract class RuleInput {

    private @Nullable SharedPayload payload;

    /** For subclasses. */
    protected RuleInput() {}

    /**
     * The value of a field such as {@code clientid}, {@code topic} or {@code payload}, with EMQX's names.
     *
     * @param name the name, without path
     * @return {@code String}, {@code byte[]} (the payload; not changed afterwards), {@code Integer}, {@code Long}, {@code Double},
     *     {@code Boolean}, {@code List} or {@code Map} of these, or {@code null} if the event has no such field
     */
    public abstract @Nullable Object field(String name);

    /** The names of all fields that {@code *} selects, in their order. */
    public abstract List<String> names();

    /**
     * An event with these fields.
     *
     * @param fields names and values as {@link #field(String)} has them; kept, and not changed afterwards
     */
    public static RuleInput of(Map<String, ? extends @Nullable Object> fields) {
        return new RuleInput() {
            @Override
            public @Nullable Object field(String name) {
                return fields.get(name);
            }

            @Override
            public List<String> names() {
                return List.copyOf(fields.keySet());
            }
        };
    }

    final SharedPayload payload() {
        SharedPayload shared = payload;
        if (shared == null) {
            shared = new SharedPayload(field("payload"));
            payload = shared;
        }
        return shared;
    }
}
