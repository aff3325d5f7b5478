// SPDX-License-Identifier: Apache-2.0
package io.smqtt;

import io.smqtt.config.StorageConfig;
import io.smqtt.session.HeldTicket;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.MonoSink;

/** Lets the application wait until its message is as safe as the broker's mode promises. Any thread. */
final class PublishTicket extends HeldTicket {

    private final MonoSink<PublishResult> sink;
    private final StorageConfig.Sync sync;
    private volatile @Nullable PublishResult result;

    /**
     * Creates a ticket that is held until the message was routed.
     *
     * @param sink is told
     * @param sync what to wait for
     */
    PublishTicket(MonoSink<PublishResult> sink, StorageConfig.Sync sync) {
        super(1);
        this.sink = sink;
        this.sync = sync;
    }

    /** The message was handed to everybody. */
    void routed(PublishResult outcome) {
        result = outcome;
        release(true);
    }

    @Override
    protected void released(boolean success) {
        if (success) {
            sink.success(result);
        } else {
            sink.error(new IllegalStateException("the message could not be kept"));
        }
    }

    @Override
    public boolean waitsForStore() {
        return sync != StorageConfig.Sync.NONE;
    }

    @Override
    public boolean wantsStable() {
        return sync == StorageConfig.Sync.SYNC;
    }
}
