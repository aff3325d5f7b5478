// SPDX-License-Identifier: Apache-2.0
package io.smqtt.overload;

import io.netty.util.internal.PlatformDependent;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;

/** The memory outside of the heap that Netty has reserved, for buffers in use and for later ones. */
final class DirectFigure implements MemoryFigure {

    private long lastBytes;
    private long rises;

    @Override
    public String name() {
        return "the memory outside of the heap";
    }

    @Override
    public long usedBytes() {
        long used = PlatformDependent.usedDirectMemory();
        if (used < 0) { // Netty does not count where it leaves the release to Java
            used = ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
                    .filter(pool -> pool.getName().equals("direct"))
                    .mapToLong(BufferPoolMXBean::getMemoryUsed)
                    .sum();
        }
        if (used > lastBytes) {
            rises++;
        }
        lastBytes = used;
        return used;
    }

    @Override
    public long maximumBytes() {
        return PlatformDependent.maxDirectMemory();
    }

    /** Buffers that are reserved and not in use do no harm: only what comes to it counts. */
    @Override
    public long evidence() {
        return rises;
    }
}
