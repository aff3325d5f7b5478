// SPDX-License-Identifier: Apache-2.0
package io.smqtt.overload;

import io.netty.util.internal.PlatformDependent;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.util.function.LongSupplier;

/** The memory outside of the heap that Netty has reserved, for buffers in use and for later ones. */
final class DirectFigure implements MemoryFigure {

    /** The part of the maximum that use must grow by to count: less comes and goes with single buffers. */
    private static final int PARTS = 100;

    private final LongSupplier used;
    private final LongSupplier maximum;
    private long lowestBytes;
    private long rises;

    DirectFigure() {
        this(DirectFigure::reserved, PlatformDependent::maxDirectMemory);
    }

    DirectFigure(LongSupplier used, LongSupplier maximum) {
        this.used = used;
        this.maximum = maximum;
    }

    /** The bytes that Netty has reserved in this process. */
    static long reserved() {
        long counted = PlatformDependent.usedDirectMemory();
        return counted >= 0 // Netty does not count where it leaves the release to Java
                ? counted
                : ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
                        .filter(pool -> pool.getName().equals("direct"))
                        .mapToLong(BufferPoolMXBean::getMemoryUsed)
                        .sum();
    }

    @Override
    public String name() {
        return "the memory outside of the heap";
    }

    @Override
    public long usedBytes() {
        long now = used.getAsLong();
        if (now - lowestBytes > maximumBytes() / PARTS) {
            rises++;
            lowestBytes = now;
        }
        lowestBytes = Math.min(lowestBytes, now);
        return now;
    }

    @Override
    public long maximumBytes() {
        return maximum.getAsLong();
    }

    /** Buffers that are reserved and not in use do no harm: only what comes to it counts. */
    @Override
    public long evidence() {
        return rises;
    }
}
