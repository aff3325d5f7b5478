// SPDX-License-Identifier: Apache-2.0
package io.smqtt.overload;

import io.smqtt.thread.AnyThread;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.lang.management.MemoryUsage;
import java.util.List;
import java.util.Locale;

/**
 * What is in use after the last collection in the part of the heap for old objects, which with some collectors is two thirds of it. Collectors
 * that do not tell it show an empty heap.
 */
@AnyThread
public final class HeapFigure implements MemoryFigure {

    private final List<MemoryPoolMXBean> pools = ManagementFactory.getMemoryPoolMXBeans().stream()
            .filter(pool -> pool.getType() == MemoryType.HEAP && pool.getCollectionUsage() != null && !isYoung(pool))
            .toList();

    /** Finds the parts of the heap of this process. */
    public HeapFigure() {}

    private static boolean isYoung(MemoryPoolMXBean pool) {
        String name = pool.getName().toLowerCase(Locale.ROOT);
        return name.contains("eden") || name.contains("survivor") || name.contains("young");
    }

    @Override
    public String name() {
        return "the heap for old objects";
    }

    @Override
    public long usedBytes() {
        long used = 0;
        for (MemoryPoolMXBean pool : pools) {
            MemoryUsage now = pool.getUsage();
            used += now == null ? 0 : Math.min(afterCollection(pool), now.getUsed());
        }
        return used;
    }

    @Override
    public long maximumBytes() {
        long maximum = 0;
        for (MemoryPoolMXBean pool : pools) {
            MemoryUsage now = pool.getUsage();
            maximum += now == null ? 0 : Math.max(0, now.getMax());
        }
        return maximum > 0 ? maximum : Runtime.getRuntime().maxMemory();
    }

    /** After two collections the same number of bytes is hardly ever in use. */
    @Override
    public long evidence() {
        long used = 0;
        for (MemoryPoolMXBean pool : pools) {
            used += afterCollection(pool);
        }
        return used;
    }

    private static long afterCollection(MemoryPoolMXBean pool) {
        MemoryUsage usage = pool.getCollectionUsage();
        return usage == null ? 0 : usage.getUsed();
    }
}
