// SPDX-License-Identifier: Apache-2.0
package io.smqtt;

import io.smqtt.routing.RouteTicket;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.MonoSink;

/** Lets the application wait until its message is safe. Any thread. */
final class PublishTicket implements RouteTicket {

    private final MonoSink<PublishResult> sink;
    private final AtomicInteger holds = new AtomicInteger(1);
    private volatile boolean failed;
    private volatile @Nullable PublishResult result;

    PublishTicket(MonoSink<PublishResult> sink) {
        this.sink = sink;
    }

    /** The message was handed to everybody. */
    void routed(PublishResult outcome) {
        result = outcome;
        release(true);
    }

    @Override
    public void hold() {
        holds.incrementAndGet();
    }

    @Override
    public void release(boolean success) {
        if (!success) {
            failed = true;
        }
        if (holds.decrementAndGet() == 0) {
            PublishResult known = result;
            if (failed) {
                sink.error(new IllegalStateException("the message could not be kept"));
            } else {
                sink.success(known);
            }
        }
    }

    @Override
    public boolean wantsStable() {
        return true;
    }
}
