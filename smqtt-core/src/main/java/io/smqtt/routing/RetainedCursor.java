// SPDX-License-Identifier: Apache-2.0
package io.smqtt.routing;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.topic.TopicFilter;
import io.smqtt.topic.TopicLevels;
import java.util.Map;
import java.util.concurrent.ConcurrentNavigableMap;
import org.jspecify.annotations.Nullable;

/**
 * A cursor over the retained messages that match a filter. Each call reads the tree in its present state. A topic that has a
 * message throughout is returned once, with its message at that time. A topic that gets or loses its message in the meantime may
 * be returned or not. Not thread-safe; other threads may store messages at the same time.
 */
public final class RetainedCursor {

    /** The character after the separator; all topics below a level sort before it. */
    private static final char AFTER_SEPARATOR = TopicLevels.SEPARATOR + 1;

    private static final String AFTER_RESERVED = String.valueOf((char) ('$' + 1));

    private final ConcurrentNavigableMap<String, ApplicationMessage> messages;
    private final String filter;
    private final boolean wildcard;
    private final TopicLevels wanted = new TopicLevels();
    private final TopicLevels found = new TopicLevels();

    /** Lower bound of the next topic; null at the end. */
    private @Nullable String seek;

    /** Whether the bound {@link #seek} is inclusive. */
    private boolean inclusive = true;

    private int steps;

    RetainedCursor(ConcurrentNavigableMap<String, ApplicationMessage> messages, TopicFilter filter) {
        this.messages = messages;
        this.filter = filter.value();
        this.wildcard = filter.hasWildcard();
        this.seek = wildcard ? literalPrefix(this.filter) : this.filter;
    }

    /**
     * The next message that has not expired, however many topics must be examined.
     *
     * @param nowNanos the broker's monotonic clock
     * @return null at the end
     */
    public @Nullable ApplicationMessage next(long nowNanos) {
        return next(nowNanos, Integer.MAX_VALUE);
    }

    /**
     * The next message that has not expired, with a bound on the work. For event loops: for a filter such as {@code +/+/x} very many
     * topics may have to be examined before one matches.
     *
     * @param nowNanos the broker's monotonic clock
     * @param maxSteps maximum number of topics to examine, about half a microsecond each
     * @return null at the end or after {@code maxSteps} topics; {@link #isDone()} tells which
     */
    public @Nullable ApplicationMessage next(long nowNanos, int maxSteps) {
        for (steps = 0; steps < maxSteps && seek != null; ) {
            steps++;
            Map.Entry<String, ApplicationMessage> candidate = candidate(seek);
            if (candidate == null || (!wildcard && !candidate.getKey().equals(filter))) {
                seek = null;
            } else if (advance(candidate.getKey()) && !candidate.getValue().isExpired(nowNanos)) {
                return candidate.getValue();
            }
        }
        return null;
    }

    /**
     * The number of topics that the last call of {@link #next(long, int)} examined.
     *
     * @return topics, at most {@code maxSteps}
     */
    public int steps() {
        return steps;
    }

    /**
     * Whether the end has been reached.
     *
     * @return true if {@link #next} will only return null
     */
    public boolean isDone() {
        return seek == null;
    }

    private Map.@Nullable Entry<String, ApplicationMessage> candidate(String from) {
        return inclusive ? messages.ceilingEntry(from) : messages.higherEntry(from);
    }

    /**
     * Compares a topic with the filter and moves {@link #seek} past it, to the first text that may match. Returns whether this topic
     * matches.
     */
    private boolean advance(String topic) {
        char first = filter.charAt(0);
        if (topic.charAt(0) == '$' && (first == '+' || first == '#')) { // [MQTT-4.7.2-1]
            seekTo(AFTER_RESERVED);
            return false;
        }
        wanted.reset(filter);
        found.reset(topic);
        while (wanted.next()) {
            char kind = wanted.end() > wanted.start() ? filter.charAt(wanted.start()) : 0;
            if (kind == '#') { // also the parent level [MQTT-4.7.1-2]
                seekAfter(topic);
                return true;
            }
            if (!found.next()) {
                seekAfter(topic);
                return false;
            }
            if (kind != '+' && !isSameLevel(topic)) {
                skipLevel(topic);
                return false;
            }
        }
        if (found.isLast()) {
            seekAfter(topic);
            return true;
        }
        seekTo(topic.substring(0, found.end()) + AFTER_SEPARATOR);
        return false;
    }

    private boolean isSameLevel(String topic) {
        int length = wanted.end() - wanted.start();
        return found.end() - found.start() == length
                && filter.regionMatches(wanted.start(), topic, found.start(), length);
    }

    /** Handles a topic that differs from the filter in a level without wildcard: moves to that level, or past its parent. */
    private void skipLevel(String topic) {
        String parent = topic.substring(0, found.start());
        String level = parent + filter.substring(wanted.start(), wanted.end());
        String below = level + TopicLevels.SEPARATOR;
        boolean levelMatches = wanted.isLast() || filter.startsWith("/#", wanted.end());
        if (levelMatches && topic.compareTo(level) < 0) {
            seekTo(level);
        } else if (!wanted.isLast() && topic.compareTo(below) < 0) {
            seekTo(below);
        } else if (filter.lastIndexOf('+', wanted.start()) < 0) {
            seek = null;
        } else {
            seekTo(parent.substring(0, parent.length() - 1) + AFTER_SEPARATOR);
        }
    }

    private void seekAfter(String topic) {
        seek = wildcard ? topic : null;
        inclusive = false;
    }

    private void seekTo(String text) {
        seek = text;
        inclusive = true;
    }

    /** The prefix of all topics that match. */
    private static String literalPrefix(String filter) {
        int plus = filter.indexOf('+');
        if (plus >= 0) {
            return filter.substring(0, plus);
        }
        return filter.substring(0, Math.max(0, filter.length() - 2)); // without /#
    }
}
