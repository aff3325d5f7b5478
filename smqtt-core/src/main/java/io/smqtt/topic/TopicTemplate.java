// SPDX-License-Identifier: Apache-2.0
package io.smqtt.topic;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The text of a topic with placeholders such as {@code ${clientid}}, and {@code $1} to {@code $9} for the groups of a match. A value in the
 * place of a named placeholder is one plain level or a part of it, so that a client cannot choose a name that acts as a wildcard or adds a
 * level. The value of a group is taken as it is: it is a part of a topic that is already there. Immutable.
 */
public final class TopicTemplate {

    private static final String BEGIN = "${";

    private final List<Part> parts;

    private TopicTemplate(List<Part> parts) {
        this.parts = parts;
    }

    /** Fixed text, or the name of a value. */
    private record Part(String text, Kind kind) {}

    private enum Kind {
        FIXED,
        NAME,
        GROUP
    }

    /**
     * Parses a template.
     *
     * @param text the topic with its placeholders
     * @param names the known names; those of groups are digits
     * @return the template
     * @throws IllegalArgumentException if a placeholder is unknown or not closed; the message is a part of a sentence
     */
    public static TopicTemplate parse(String text, Collection<String> names) {
        List<Part> parts = new ArrayList<>();
        int from = 0;
        for (int at = text.indexOf('$'); at >= 0; at = text.indexOf('$', Math.max(from, at + 1))) {
            boolean group = at + 1 < text.length() && Character.isDigit(text.charAt(at + 1));
            if (!group && !text.startsWith(BEGIN, at)) {
                continue; // as in $share/
            }
            int end = group ? at + 2 : text.indexOf('}', at) + 1;
            if (end == 0) {
                throw new IllegalArgumentException("has a placeholder without }");
            }
            String name = group ? text.substring(at + 1, end) : text.substring(at + 2, end - 1);
            if (!names.contains(name)) {
                throw new IllegalArgumentException("has the unknown placeholder " + text.substring(at, end));
            }
            parts.add(new Part(text.substring(from, at), Kind.FIXED));
            parts.add(new Part(name, group ? Kind.GROUP : Kind.NAME));
            from = end;
        }
        parts.add(new Part(text.substring(from), Kind.FIXED));
        return new TopicTemplate(List.copyOf(parts));
    }

    /**
     * Replaces the placeholders.
     *
     * @param values the value of a name, or null if there is none
     * @return the topic, not yet validated; null if a value is missing or is not a plain level
     */
    public @Nullable String fill(Function<String, @Nullable String> values) {
        return fill(values, false);
    }

    /**
     * Replaces the placeholders by parts of a topic that is already there, which may have several levels.
     *
     * @param values the value of a name, or null if there is none
     * @return the topic, not yet validated; null if a value is missing
     */
    public @Nullable String fillFromTopic(Function<String, @Nullable String> values) {
        return fill(values, true);
    }

    private @Nullable String fill(Function<String, @Nullable String> values, boolean levels) {
        StringBuilder filled = new StringBuilder();
        for (Part part : parts) {
            String value = part.kind == Kind.FIXED ? part.text : values.apply(part.text);
            if (value == null || (!levels && part.kind == Kind.NAME && !isPlain(value))) {
                return null;
            }
            filled.append(value);
        }
        return filled.toString();
    }

    private static boolean isPlain(String value) {
        return !value.isEmpty()
                && value.charAt(0) != '$'
                && value.chars().noneMatch(c -> c == '/' || c == '+' || c == '#' || c == 0);
    }
}
