// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.lang.management.MemoryUsage;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** The part of the heap that holds what has survived several collections. Safe for use by several threads. */
interface ProgramHeap {

    /**
     * Tells whether old objects are collected in one pause, which grows with what is alive.
     *
     * @return true for the serial and the parallel collector
     */
    boolean stopsForAll();

    /** {@return bytes that old objects take, with garbage among them} */
    long used();

    /** {@return bytes that old objects took after their last complete collection; 0 before the first one and where none is told} */
    long usedAfterCollection();

    /** {@return how often young objects alone were collected since the start} */
    long youngCollections();

    /** Collects the whole heap now, and returns when that is done. */
    void collect();

    /** {@return the heap of this process} */
    static ProgramHeap ofProcess() {
        List<MemoryPoolMXBean> old = ManagementFactory.getMemoryPoolMXBeans().stream()
                .filter(pool -> pool.getType() == MemoryType.HEAP && !isYoung(pool))
                .toList();
        boolean stops = old.stream()
                .anyMatch(pool ->
                        pool.getName().equals("Tenured Gen") || pool.getName().equals("PS Old Gen"));
        List<GarbageCollectorMXBean> young = ManagementFactory.getGarbageCollectorMXBeans().stream()
                .filter(collector ->
                        Arrays.stream(collector.getMemoryPoolNames()).allMatch(ProgramHeap::isYoung))
                .toList();
        return new OfPools(old, young, stops);
    }

    private static boolean isYoung(MemoryPoolMXBean pool) {
        return isYoung(pool.getName());
    }

    private static boolean isYoung(String pool) {
        String name = pool.toLowerCase(Locale.ROOT);
        return name.contains("eden") || name.contains("survivor") || name.contains("young");
    }

    /**
     * A heap as Java's own beans show it.
     *
     * @param old the pools of old objects
     * @param young collectors that collect young objects alone
     * @param stopsForAll whether the collector stops all threads to collect the old ones
     */
    record OfPools(List<MemoryPoolMXBean> old, List<GarbageCollectorMXBean> young, boolean stopsForAll)
            implements ProgramHeap {

        @Override
        public long used() {
            return old.stream().mapToLong(pool -> pool.getUsage().getUsed()).sum();
        }

        @Override
        public long usedAfterCollection() {
            long used = 0;
            for (MemoryPoolMXBean pool : old) {
                MemoryUsage after = pool.getCollectionUsage();
                used += after == null ? 0 : after.getUsed();
            }
            return used;
        }

        @Override
        public long youngCollections() {
            return young.stream()
                    .mapToLong(GarbageCollectorMXBean::getCollectionCount)
                    .sum();
        }

        @Override
        public void collect() {
            System.gc();
        }
    }
}
