// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sink.kafka;

import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;

/** Which records of each partition the broker has. Records are answered in any order; a partition is committed up to the first without an answer. For one thread. */
final class PublishedOffsets {

    private static final int ANSWERED = -1;

    /** The offsets that are not yet committable: the bytes of each record without an answer, otherwise {@link #ANSWERED}. */
    private final Map<TopicPartition, TreeMap<Long, Integer>> taken = new HashMap<>();

    private final Map<TopicPartition, OffsetAndMetadata> next = new HashMap<>();
    private int held;
    private int open;
    private long openBytes;
    private boolean changed;

    /** The records that have no answer yet. */
    int open() {
        return open;
    }

    /** The bytes of the records that have no answer yet. */
    long openBytes() {
        return openBytes;
    }

    /** The records that cannot be committed yet: those without an answer, and those behind them. */
    int held() {
        return held;
    }

    /** Whether there is something to commit. */
    boolean isChanged() {
        return changed && !next.isEmpty();
    }

    /** What was to be committed is not. */
    void changed() {
        changed = true;
    }

    void taken(TopicPartition partition, long offset, int bytes) {
        Integer before =
                taken.computeIfAbsent(partition, none -> new TreeMap<>()).put(offset, bytes);
        if (before != null) {
            removed(before); // the consumer went back
        }
        held++;
        open++;
        openBytes += bytes;
    }

    /** The broker has a record. One of a partition that was lost since then is left out. */
    void published(TopicPartition partition, long offset) {
        TreeMap<Long, Integer> offsets = taken.get(partition);
        Integer bytes = offsets == null ? null : offsets.get(offset);
        if (offsets == null || bytes == null || bytes == ANSWERED) {
            return;
        }
        offsets.put(offset, ANSWERED);
        open--;
        openBytes -= bytes;
        long end = -1;
        while (!offsets.isEmpty() && offsets.firstEntry().getValue() == ANSWERED) {
            end = offsets.pollFirstEntry().getKey();
            held--;
        }
        if (end >= 0) {
            next.put(partition, new OffsetAndMetadata(end + 1));
            changed = true;
        }
    }

    /** What is to be committed now: for each partition the first record that is not yet published. */
    Map<TopicPartition, OffsetAndMetadata> take() {
        changed = false;
        return new HashMap<>(next);
    }

    void forget(Collection<TopicPartition> partitions) {
        for (TopicPartition partition : partitions) {
            TreeMap<Long, Integer> offsets = taken.remove(partition);
            if (offsets != null) {
                offsets.values().forEach(this::removed);
            }
            next.remove(partition);
        }
    }

    private void removed(int bytes) {
        held--;
        if (bytes != ANSWERED) {
            open--;
            openBytes -= bytes;
        }
    }
}
