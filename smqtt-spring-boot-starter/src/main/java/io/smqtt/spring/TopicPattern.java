// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import io.smqtt.topic.TopicFilter;
import io.smqtt.topic.TopicName;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A topic filter whose levels may have names: {@code devices/{id}/state} is {@code devices/+/state}. Immutable. */
final class TopicPattern {

    private static final String SHARE = "$share/";

    private final TopicFilter filter;
    private final @Nullable String group;
    private final Map<String, Integer> levels = new HashMap<>();
    private final int rest;

    private TopicPattern(TopicFilter filter, @Nullable String group, Map<String, Integer> levels, int rest) {
        this.filter = filter;
        this.group = group;
        this.levels.putAll(levels);
        this.rest = rest;
    }

    /**
     * Reads a pattern.
     *
     * @throws IllegalArgumentException if it is none
     * @throws io.smqtt.topic.InvalidTopicException if what it stands for is no topic filter
     */
    static TopicPattern of(String full) {
        String group = null;
        String text = full;
        if (full.startsWith(SHARE)) {
            int slash = full.indexOf('/', SHARE.length());
            if (slash < 0) {
                throw new IllegalArgumentException("a shared filter is $share/group/filter, not " + full);
            }
            group = full.substring(SHARE.length(), slash);
            text = full.substring(slash + 1);
        }
        String[] parts = text.split("/", -1);
        Map<String, Integer> levels = new HashMap<>();
        int rest = Integer.MAX_VALUE;
        for (int i = 0; i < parts.length; i++) {
            String part = parts[i];
            if (!part.startsWith("{") || !part.endsWith("}")) {
                if (part.indexOf('{') >= 0 || part.indexOf('}') >= 0) {
                    throw new IllegalArgumentException("a variable must be a whole level of the filter " + text);
                }
                continue;
            }
            boolean open = part.startsWith("{*");
            String name = part.substring(open ? 2 : 1, part.length() - 1);
            if (name.isEmpty() || levels.put(name, i) != null) {
                throw new IllegalArgumentException("each variable needs a name of its own in the filter " + text);
            }
            if (open && i < parts.length - 1) {
                throw new IllegalArgumentException("{*" + name + "} must be the last level of the filter " + text);
            }
            rest = open ? i : rest;
            parts[i] = open ? "#" : "+";
        }
        return new TopicPattern(TopicFilter.of(String.join("/", parts)), group, levels, rest);
    }

    TopicFilter filter() {
        return filter;
    }

    /** {@return the filter with its group, if it is shared} */
    String text() {
        return group == null ? filter.value() : SHARE + group + "/" + filter.value();
    }

    Set<String> names() {
        return levels.keySet();
    }

    /**
     * The text of a variable.
     *
     * @param topic a topic that the filter matches
     * @return the level; of {@code {*name}} all that are left, empty if none is
     */
    String value(String name, TopicName topic) {
        int level = levels.getOrDefault(name, -1);
        if (level < 0) {
            throw new IllegalArgumentException("no variable " + name);
        }
        String text = topic.value();
        int start = 0;
        for (int i = 0; i < level; i++) {
            int slash = text.indexOf('/', start);
            if (slash < 0) {
                return ""; // # matches its parent too
            }
            start = slash + 1;
        }
        int end = level == rest ? -1 : text.indexOf('/', start);
        return end < 0 ? text.substring(start) : text.substring(start, end);
    }
}
