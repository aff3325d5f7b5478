// SPDX-License-Identifier: Apache-2.0
package io.smqtt.routing;

import io.smqtt.topic.TopicLevels;
import java.util.Arrays;

/** The positions and hashes of the levels of one topic name or filter, computed in one pass over the string. Reused. */
final class TopicScan {

    private static final int USUAL_LEVELS = 16;

    private String text = "";
    private int count;
    private int whole;
    private int[] starts = new int[USUAL_LEVELS];
    private int[] ends = new int[USUAL_LEVELS];
    private int[] hashes = new int[USUAL_LEVELS];

    void reset(String topic) {
        text = topic;
        count = 0;
        long all = topic.length();
        int start = 0;
        while (start <= topic.length()) {
            int separator = topic.indexOf(TopicLevels.SEPARATOR, start);
            int end = separator < 0 ? topic.length() : separator;
            int hash = LevelHash.of(topic, start, end);
            all = LevelHash.extend(all, hash);
            append(start, end, hash);
            start = end + 1;
        }
        whole = LevelHash.fold(all);
    }

    private void append(int start, int end, int hash) {
        if (count == starts.length) {
            starts = Arrays.copyOf(starts, count * 2);
            ends = Arrays.copyOf(ends, count * 2);
            hashes = Arrays.copyOf(hashes, count * 2);
        }
        starts[count] = start;
        ends[count] = end;
        hashes[count++] = hash;
    }

    String text() {
        return text;
    }

    /** The number of levels, at least 1. */
    int count() {
        return count;
    }

    /** The hash of the whole text. */
    int hash() {
        return whole;
    }

    int start(int level) {
        return starts[level];
    }

    int end(int level) {
        return ends[level];
    }

    int hash(int level) {
        return hashes[level];
    }

    /**
     * Whether the rest of a filter matches the levels from the given one on.
     *
     * @param filter a filter whose levels before {@code position} have matched already
     * @param position the separator before the rest, or the end of the filter
     * @param level the first level that the rest must match, may be {@link #count()}
     */
    boolean matchesRest(String filter, int position, int level) {
        int at = position;
        int index = level;
        int length = filter.length();
        while (at < length) {
            int start = at + 1;
            char first = start < length ? filter.charAt(start) : 0;
            if (first == '#') { // also the parent level [MQTT-4.7.1-2]
                return true;
            }
            if (index == count) {
                return false;
            }
            if (first == '+') {
                at = start + 1;
            } else {
                int size = ends[index] - starts[index];
                at = start + size;
                if (!isLevelEnd(filter, at) || !filter.regionMatches(start, text, starts[index], size)) {
                    return false;
                }
            }
            index++;
        }
        return index == count;
    }

    private static boolean isLevelEnd(String filter, int at) {
        return at == filter.length() || (at < filter.length() && filter.charAt(at) == TopicLevels.SEPARATOR);
    }
}
