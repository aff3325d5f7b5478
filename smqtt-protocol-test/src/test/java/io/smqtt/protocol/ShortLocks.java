// SPDX-License-Identifier: Apache-2.0
package io.smqtt.protocol;

import reactor.blockhound.BlockHound;
import reactor.blockhound.integration.BlockHoundIntegration;

/**
 * Locks that are held for the time of an allocation or of a step in a queue, and that the integrations of the libraries leave out. Found by the service
 * loader.
 *
 * <ul>
 *   <li>Netty's allocator: when threads compete for a magazine, it adds magazines, and waits until the present ones have ended an allocation.
 *   <li>The queue of a thread pool: an event loop that hands a password over waits until another one has done so, or a thread has taken one.
 * </ul>
 */
public final class ShortLocks implements BlockHoundIntegration {

    /** Called by the service loader. */
    public ShortLocks() {}

    @Override
    public void applyTo(BlockHound.Builder builder) {
        builder.allowBlockingCallsInside("io.netty.buffer.AdaptivePoolingAllocator$MagazineGroup", "tryExpandMagazines")
                .allowBlockingCallsInside("java.util.concurrent.LinkedBlockingQueue", "offer");
    }
}
