// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import io.smqtt.BrokerClosedException;
import io.smqtt.BrokerModule.Core;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.routing.RetainedCursor;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.RoutingLoop;
import io.smqtt.thread.AnyThread;
import io.smqtt.topic.TopicFilter;
import io.smqtt.topic.TopicName;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** The retained messages of a broker for operators, without those that the broker keeps for itself. */
@AnyThread
final class RetainedView {

    /** Number of topics that a removal by filter removes at most. */
    private static final int MOST_REMOVED = 100_000;

    private final Core core;

    RetainedView(Core core) {
        this.core = core;
    }

    /** A part of the messages of a filter, by topic. Takes half a microsecond for each examined topic. */
    Slice<ApplicationMessage> list(TopicFilter filter, int skip, int limit) {
        return list(filter, skip, limit, BrokerView.MAX_BYTES);
    }

    /** The first messages of a filter, by topic, for a removal. */
    List<ApplicationMessage> first(TopicFilter filter) {
        return list(filter, 0, MOST_REMOVED, Long.MAX_VALUE).rows();
    }

    private Slice<ApplicationMessage> list(TopicFilter filter, int skip, int limit, long maxBytes) {
        RetainedCursor cursor = core.router().retained().cursor(filter);
        List<ApplicationMessage> rows = new ArrayList<>();
        long room = maxBytes;
        int seen = 0;
        for (ApplicationMessage next = next(cursor); next != null; next = next(cursor)) {
            room -= seen < skip ? 0 : ListRoom.bytes(next.topic().value(), next.publisherId());
            boolean isFull = room < 0 && !rows.isEmpty();
            if (isFull || seen == skip + limit) {
                return new Slice<>((int) core.router().retained().count(), rows, 0, true, isFull);
            }
            if (seen++ >= skip) {
                rows.add(next);
            }
        }
        return new Slice<>((int) core.router().retained().count(), rows, 0, false, false);
    }

    private @Nullable ApplicationMessage next(RetainedCursor cursor) {
        ApplicationMessage next = cursor.next(core.ticker().nanoTime());
        while (next != null && BrokerView.isHidden(next.topic().value())) {
            next = cursor.next(core.ticker().nanoTime());
        }
        return next;
    }

    @Nullable
    ApplicationMessage get(TopicName topic) {
        ApplicationMessage found = core.router().retained().get(topic);
        return found == null || found.isExpired(core.ticker().nanoTime()) ? null : found;
    }

    /** Removes the message of a topic, on all nodes. */
    Mono<Void> remove(TopicName topic) {
        return Mono.create(sink -> {
            List<RoutingLoop> loops = core.router().loops();
            RoutingLoop loop = loops.get(Math.floorMod(topic.hashCode(), loops.size()));
            try {
                loop.executor().execute(() -> {
                    ApplicationMessage nothing = ApplicationMessage.builder(topic.value())
                            .retain(true)
                            .build()
                            .accepted(loop.nextMessageId(), core.ticker().nanoTime(), null);
                    core.sessions().retained().retain(loop, nothing, RouteTicket.NONE);
                    sink.success();
                });
            } catch (RejectedExecutionException e) {
                sink.error(new BrokerClosedException());
            }
        });
    }
}
