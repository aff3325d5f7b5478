// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access;

import io.smqtt.spi.ClientIdentity;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The compiled topic filter of an access rule: levels of fixed text, wildcards, and levels with placeholders for client identifier or user
 * name. Matching walks the topic once and allocates nothing. It compares names as plain text, so a client cannot choose a name that acts
 * as a wildcard.
 */
final class RuleFilter {

    /** Whether the placeholders of a rule can be replaced for a client. */
    enum Fill {
        /** Yes, or there are no placeholders. */
        POSSIBLE,
        /** No: the client has no user name. */
        ABSENT,
        /** No: a name could change the meaning of the filter. */
        UNSAFE
    }

    private sealed interface Level {}

    private enum Wildcard implements Level {
        ONE,
        ALL
    }

    /** Consecutive parts of one level. */
    private record Text(List<Part> parts) implements Level {

        boolean isFixed() {
            return parts.stream().allMatch(part -> part.source == Source.FIXED);
        }
    }

    private record Part(Source source, String text) {}

    private enum Source {
        FIXED,
        CLIENT_ID,
        USER_NAME
    }

    private final List<Level> levels;
    private final boolean usesClientId;
    private final boolean usesUserName;

    private RuleFilter(List<Level> levels) {
        this.levels = levels;
        usesClientId = uses(levels, Source.CLIENT_ID);
        usesUserName = uses(levels, Source.USER_NAME);
    }

    /** Compiles a valid topic filter. With substitution, %c and %u are replaced by the client's names. */
    static RuleFilter compile(String filter, boolean substitution) {
        List<Level> levels = new ArrayList<>();
        int start = 0;
        while (start <= filter.length()) {
            int slash = filter.indexOf('/', start);
            int end = slash < 0 ? filter.length() : slash;
            levels.add(level(filter.substring(start, end), substitution));
            start = end + 1;
        }
        return new RuleFilter(List.copyOf(levels));
    }

    /** The filter up to the first level with a placeholder, and everything below. */
    RuleFilter widened() {
        List<Level> wide = new ArrayList<>();
        for (Level level : levels) {
            if (level instanceof Text text && !text.isFixed()) {
                wide.add(Wildcard.ALL);
                break;
            }
            wide.add(level);
        }
        return new RuleFilter(List.copyOf(wide));
    }

    Fill fill(ClientIdentity client) {
        String userName = client.userName();
        if (usesUserName && userName == null) {
            return Fill.ABSENT;
        }
        boolean safe =
                (!usesClientId || isSafe(client.clientId())) && (!usesUserName || userName == null || isSafe(userName));
        return safe ? Fill.POSSIBLE : Fill.UNSAFE;
    }

    /**
     * Whether the filter matches all topics of a topic name or topic filter. Only if the placeholders can be replaced for the client.
     */
    boolean covers(String topic, ClientIdentity client) {
        if (topic.isEmpty() || (topic.charAt(0) == '$' && levels.get(0) instanceof Wildcard)) { // [MQTT-4.7.2-1]
            return false;
        }
        int start = 0;
        for (int i = 0; i < levels.size(); i++) {
            Level level = levels.get(i);
            if (level == Wildcard.ALL) { // also the parent level [MQTT-4.7.1-2]
                return true;
            }
            if (start > topic.length()) {
                return false;
            }
            int slash = topic.indexOf('/', start);
            int end = slash < 0 ? topic.length() : slash;
            boolean covered = level instanceof Text text
                    ? equal(text, topic, start, end, client)
                    : end - start != 1 || topic.charAt(start) != '#';
            if (!covered) {
                return false;
            }
            start = end + 1;
        }
        return start > topic.length();
    }

    /** Whether a name is one plain level: not empty, no /, + or #, not the beginning of a $ topic. */
    static boolean isSafe(String name) {
        for (int i = 0; i < name.length(); i++) {
            char c = name.charAt(i);
            if (c == '/' || c == '+' || c == '#' || c == 0) {
                return false;
            }
        }
        return !name.isEmpty() && name.charAt(0) != '$';
    }

    private static boolean equal(Text level, String topic, int start, int end, ClientIdentity client) {
        int position = start;
        for (int i = 0; i < level.parts.size(); i++) {
            Part part = level.parts.get(i);
            @Nullable
            String text = switch (part.source) {
                case FIXED -> part.text;
                case CLIENT_ID -> client.clientId();
                case USER_NAME -> client.userName();
            };
            if (text == null || text.length() > end - position || !topic.startsWith(text, position)) {
                return false;
            }
            position += text.length();
        }
        return position == end;
    }

    private static Level level(String text, boolean substitution) {
        if (text.equals("+")) {
            return Wildcard.ONE;
        }
        if (text.equals("#")) {
            return Wildcard.ALL;
        }
        return new Text(substitution ? parts(text) : List.of(new Part(Source.FIXED, text)));
    }

    private static List<Part> parts(String text) {
        List<Part> parts = new ArrayList<>();
        int fixed = 0;
        for (int i = text.indexOf('%'); i >= 0 && i + 1 < text.length(); i = text.indexOf('%', i + 1)) {
            char name = text.charAt(i + 1);
            if (name == 'c' || name == 'u') {
                parts.add(new Part(Source.FIXED, text.substring(fixed, i)));
                parts.add(new Part(name == 'c' ? Source.CLIENT_ID : Source.USER_NAME, ""));
                fixed = i + 2;
            }
        }
        parts.add(new Part(Source.FIXED, text.substring(fixed)));
        parts.removeIf(part -> part.source == Source.FIXED && part.text.isEmpty() && text.length() > 0);
        return List.copyOf(parts);
    }

    private static boolean uses(List<Level> levels, Source source) {
        return levels.stream()
                .anyMatch(level ->
                        level instanceof Text text && text.parts.stream().anyMatch(part -> part.source == source));
    }
}
