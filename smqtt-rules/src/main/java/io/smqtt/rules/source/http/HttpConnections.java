// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.source.http;

import io.netty.channel.Channel;
import io.netty.util.AttributeKey;
import io.netty.util.concurrent.ScheduledFuture;
import io.smqtt.rules.sink.SourceOutput;
import io.smqtt.thread.AnyThread;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** The connections of one run: at most some at a time, and none without a first request. */
@AnyThread
final class HttpConnections {

    private static final AttributeKey<Boolean> ASKED = AttributeKey.valueOf(HttpConnections.class, "asked");

    private final long most;
    private final Duration firstRequest;
    private final SourceOutput out;
    private final AtomicInteger open = new AtomicInteger();

    /**
     * Creates it without connections.
     *
     * @param most maximum number of connections; more are closed
     * @param firstRequest the longest time until the headers of the first request of a connection
     */
    HttpConnections(long most, Duration firstRequest, SourceOutput out) {
        this.most = most;
        this.firstRequest = firstRequest;
        this.out = out;
    }

    /** Counts a new connection until it is closed. */
    void admit(Channel channel) {
        channel.closeFuture().addListener(closed -> open.decrementAndGet());
        if (open.incrementAndGet() > most) {
            out.rejected("a connection beyond max-connections");
            channel.eventLoop().execute(channel::close); // not while its handlers are added
            return;
        }
        ScheduledFuture<?> silent = channel.eventLoop()
                .schedule(
                        () -> {
                            if (!channel.hasAttr(ASKED)) {
                                channel.close();
                            }
                        },
                        firstRequest.toNanos(),
                        TimeUnit.NANOSECONDS);
        channel.closeFuture().addListener(closed -> silent.cancel(false));
    }

    /** Notes a request. */
    static void asked(Channel channel) {
        channel.attr(ASKED).set(true);
    }
}
