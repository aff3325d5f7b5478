// SPDX-License-Identifier: Apache-2.0
package io.smqtt.topic;

/**
 * A cursor over the levels of a topic name or filter. It allocates no strings and does not recurse, so its cost is linear in the length for any
 * input. Not thread-safe; reuse it with {@link #reset(String)}.
 */
public final class TopicLevels {

    /** The separator of topic levels (MQTT 5.0, section 4.7.1.1). */
    public static final char SEPARATOR = '/';

    private String text = "";
    private int start;
    private int end = -1;

    /** Creates a cursor before the first level of an empty text. */
    public TopicLevels() {}

    /**
     * Moves the cursor before the first level of a text.
     *
     * @param topic a topic name or filter
     * @return this cursor
     */
    public TopicLevels reset(String topic) {
        text = topic;
        start = 0;
        end = -1;
        return this;
    }

    /**
     * Moves to the next level.
     *
     * @return false if there is none
     */
    public boolean next() {
        if (end >= text.length()) {
            return false;
        }
        start = end + 1;
        int separator = text.indexOf(SEPARATOR, start);
        end = separator < 0 ? text.length() : separator;
        return true;
    }

    /**
     * Whether the current level is the last one.
     *
     * @return true on the last level
     */
    public boolean isLast() {
        return end >= text.length();
    }

    /**
     * The first character of the current level.
     *
     * @return an index into the text
     */
    public int start() {
        return start;
    }

    /**
     * The end of the current level.
     *
     * @return an index into the text, exclusive
     */
    public int end() {
        return end;
    }

    /**
     * Counts the levels of a topic name or filter.
     *
     * @param topic a topic name or filter
     * @return at least 1
     */
    public static int count(String topic) {
        int levels = 1;
        for (int i = topic.indexOf(SEPARATOR); i >= 0; i = topic.indexOf(SEPARATOR, i + 1)) {
            levels++;
        }
        return levels;
    }
}
