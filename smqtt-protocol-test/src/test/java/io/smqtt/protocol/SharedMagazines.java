// SPDX-License-Identifier: Apache-2.0
package io.smqtt.protocol;

import reactor.blockhound.BlockHound;
import reactor.blockhound.integration.BlockHoundIntegration;

/**
 * Locks of Netty's allocator that Netty's own integration leaves out: when threads compete for a magazine, the allocator adds magazines, and waits until the
 * present ones have ended an allocation. Found by the service loader.
 */
public final class SharedMagazines implements BlockHoundIntegration {

    /** Called by the service loader. */
    public SharedMagazines() {}

    @Override
    public void applyTo(BlockHound.Builder builder) {
        builder.allowBlockingCallsInside(
                "io.netty.buffer.AdaptivePoolingAllocator$MagazineGroup", "tryExpandMagazines");
    }
}
