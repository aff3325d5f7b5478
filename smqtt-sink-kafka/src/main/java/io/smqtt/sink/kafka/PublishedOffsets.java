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

    /** The offsets that are not yet committable, and whether each has its answer. */
    private final Map<TopicPartition, TreeMap<Long, Boolean>> taken = new HashMap<>();

    private final Map<TopicPartition, OffsetAndMetadata> next = new HashMap<>();
    private int open;
    private boolean changed;

    /** The records that have no answer yet. */
    int open() {
        return open;
    }

    /** Whether there is something to commit. */
    boolean isChanged() {
        return changed && !next.isEmpty();
    }

    /** What was to be committed is not. */
    void changed() {
        changed = true;
    }

    void taken(TopicPartition partition, long offset) {
        if (taken.computeIfAbsent(partition, none -> new TreeMap<>()).put(offset, false) == null) {
            open++;
        }
    }

    /** The broker has a record. One of a partition that was lost since then is left out. */
    void published(TopicPartition partition, long offset) {
        TreeMap<Long, Boolean> offsets = taken.get(partition);
        if (offsets == null || !Boolean.FALSE.equals(offsets.replace(offset, true))) {
            return;
        }
        open--;
        long end = -1;
        while (!offsets.isEmpty() && offsets.firstEntry().getValue()) {
            end = offsets.pollFirstEntry().getKey();
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
            TreeMap<Long, Boolean> offsets = taken.remove(partition);
            if (offsets != null) {
                open -= (int)
                        offsets.values().stream().filter(answered -> !answered).count();
            }
            next.remove(partition);
        }
    }
}
