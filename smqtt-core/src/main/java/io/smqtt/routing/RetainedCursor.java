// SPDX-License-Identifier: Apache-2.0
package io.smqtt.routing;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.topic.TopicFilter;
import io.smqtt.topic.TopicLevels;
import java.util.Map;
import java.util.concurrent.ConcurrentNavigableMap;
import org.jspecify.annotations.Nullable;

/**
 * Gives the retained messages that a filter matches, one by one, at the caller's pace: each call looks into the tree as it
 * is then. A topic that has a message from beginning to end is given once, with the message of that moment; one that gets
 * or loses it meanwhile may be given or not. Not thread-safe; stores may go on meanwhile on any thread.
 */
public final class RetainedCursor {

    /** The character after the separator: what all topics below a level come before. */
    private static final char AFTER_SEPARATOR = TopicLevels.SEPARATOR + 1;

    private static final String AFTER_RESERVED = String.valueOf((char) ('$' + 1));

    private final ConcurrentNavigableMap<String, ApplicationMessage> messages;
    private final String filter;
    private final boolean wildcard;
    private final TopicLevels wanted = new TopicLevels();
    private final TopicLevels found = new TopicLevels();

    /** What the next topic is not before; null at the end. */
    private @Nullable String seek;

    /** True if the next topic may be {@link #seek} itself. */
    private boolean inclusive = true;

    private int steps;

    RetainedCursor(ConcurrentNavigableMap<String, ApplicationMessage> messages, TopicFilter filter) {
        this.messages = messages;
        this.filter = filter.value();
        this.wildcard = filter.hasWildcard();
        this.seek = wildcard ? literalPrefix(this.filter) : this.filter;
    }

    /**
     * The next message that has not expired, however many topics must be looked at.
     *
     * @param nowNanos the broker's monotonic clock
     * @return null at the end
     */
    public @Nullable ApplicationMessage next(long nowNanos) {
        return next(nowNanos, Integer.MAX_VALUE);
    }

    /**
     * The next message that has not expired. For event loops: a filter such as {@code +/+/x} may have to look at very
     * many topics before it finds one.
     *
     * @param nowNanos the broker's monotonic clock
     * @param maxSteps the most topics to look at, about half a microsecond each
     * @return null at the end, or after so many steps; {@link #isDone()} tells which
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
     * How many topics the last call of {@link #next(long, int)} looked at.
     *
     * @return steps, at most as many as were allowed
     */
    public int steps() {
        return steps;
    }

    /**
     * Tells whether the end has been reached.
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
     * Compares a topic with the filter and sets {@link #seek} beyond it, to the first text that may match: nothing between
     * the two does. Returns whether this topic matches.
     */
    private boolean advance(String topic) {
        char first = filter.charAt(0);
        if (topic.charAt(0) == '$' && (first == '+' || first == '#')) { // [MQTT-4.7.2-1]
            goTo(AFTER_RESERVED);
            return false;
        }
        wanted.reset(filter);
        found.reset(topic);
        while (wanted.next()) {
            char kind = wanted.end() > wanted.start() ? filter.charAt(wanted.start()) : 0;
            if (kind == '#') { // also the parent level [MQTT-4.7.1-2]
                goAfter(topic);
                return true;
            }
            if (!found.next()) {
                goAfter(topic);
                return false;
            }
            if (kind != '+' && !isSameLevel(topic)) {
                skipLevel(topic);
                return false;
            }
        }
        if (found.isLast()) {
            goAfter(topic);
            return true;
        }
        goTo(topic.substring(0, found.end()) + AFTER_SEPARATOR);
        return false;
    }

    private boolean isSameLevel(String topic) {
        int length = wanted.end() - wanted.start();
        return found.end() - found.start() == length
                && filter.regionMatches(wanted.start(), topic, found.start(), length);
    }

    /** The topic differs from the filter in a level without wildcard: goes to where that level is, or past its parent. */
    private void skipLevel(String topic) {
        String parent = topic.substring(0, found.start());
        String level = parent + filter.substring(wanted.start(), wanted.end());
        String below = level + TopicLevels.SEPARATOR;
        boolean levelMatches = wanted.isLast() || filter.startsWith("/#", wanted.end());
        if (levelMatches && topic.compareTo(level) < 0) {
            goTo(level);
        } else if (!wanted.isLast() && topic.compareTo(below) < 0) {
            goTo(below);
        } else if (filter.lastIndexOf('+', wanted.start()) < 0) {
            seek = null;
        } else {
            goTo(parent.substring(0, parent.length() - 1) + AFTER_SEPARATOR);
        }
    }

    private void goAfter(String topic) {
        seek = wildcard ? topic : null;
        inclusive = false;
    }

    private void goTo(String text) {
        seek = text;
        inclusive = true;
    }

    /** What all topics that match come at or after. */
    private static String literalPrefix(String filter) {
        int plus = filter.indexOf('+');
        if (plus >= 0) {
            return filter.substring(0, plus);
        }
        return filter.substring(0, Math.max(0, filter.length() - 2)); // without /#
    }
}
