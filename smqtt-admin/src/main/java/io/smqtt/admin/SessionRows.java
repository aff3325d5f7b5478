// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import io.smqtt.BrokerClosedException;
import io.smqtt.ClientInfo;
import io.smqtt.routing.RoutingLoop;
import io.smqtt.session.PacketSink;
import io.smqtt.session.Session;
import io.smqtt.session.SessionContents;
import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/** Reads sessions on their event loops, at most {@value #AT_ONCE} in one task, so that a long list holds no event loop. */
final class SessionRows {

    /** Number of sessions that one task reads: about a quarter of a millisecond. */
    static final int AT_ONCE = 500;

    private SessionRows() {}

    /**
     * Reads sessions.
     *
     * @param sessions any sessions
     * @param collector where the rows are put together, since many would hold an event loop
     * @return their rows, in the same order, without those that have ended
     */
    @AnyThread
    static Mono<List<ClientRow>> read(List<Session> sessions, Scheduler collector) {
        Map<RoutingLoop, List<Session>> byLoop = new LinkedHashMap<>();
        sessions.forEach(session -> byLoop.computeIfAbsent(session.owner(), loop -> new ArrayList<>())
                .add(session));
        return Flux.fromIterable(byLoop.entrySet())
                .flatMap(
                        own -> Flux.fromIterable(parts(own.getValue())).concatMap(part -> read(own.getKey(), part)),
                        Math.max(1, byLoop.size()))
                .publishOn(collector)
                .collect(LinkedHashMap<Session, ClientRow>::new, Map::putAll)
                .map(rows -> {
                    List<ClientRow> ordered = new ArrayList<>();
                    for (Session session : sessions) {
                        ClientRow row = rows.get(session);
                        if (row != null) {
                            ordered.add(row);
                        }
                    }
                    return ordered;
                });
    }

    private static List<List<Session>> parts(List<Session> sessions) {
        List<List<Session>> parts = new ArrayList<>();
        for (int from = 0; from < sessions.size(); from += AT_ONCE) {
            parts.add(sessions.subList(from, Math.min(sessions.size(), from + AT_ONCE)));
        }
        return parts;
    }

    private static Mono<Map<Session, ClientRow>> read(RoutingLoop loop, List<Session> sessions) {
        return Mono.create(sink -> {
            try {
                loop.executor().execute(() -> {
                    Map<Session, ClientRow> rows = new LinkedHashMap<>();
                    for (Session session : sessions) {
                        if (session.owner() == loop && !session.hasEnded()) { // one that moves is left out
                            rows.put(session, row(session));
                        }
                    }
                    sink.success(rows);
                });
            } catch (RejectedExecutionException e) {
                sink.error(new BrokerClosedException());
            }
        });
    }

    @OnEventLoop
    private static ClientRow row(Session session) {
        PacketSink connection = session.sink();
        return new ClientRow(
                info(session),
                connection == null ? 0 : connection.keepAliveSeconds(),
                session.expirySeconds(),
                session.isStored(),
                connection == null ? 0 : connection.sendMaximum(),
                session.queuedBytes(),
                new SessionContents(session).dropped(),
                connection == null ? null : connection.cleanStart(),
                connection == null ? null : connection.connectedAtMillis(),
                connection == null ? null : connection.front());
    }

    /** The state of a session as any thread sees it, perhaps a moment old: without keep alive, expiry and sizes. */
    @AnyThread
    static ClientRow glance(Session session) {
        PacketSink connection = session.sink();
        return new ClientRow(
                info(session),
                0,
                0,
                session.isStored(),
                0,
                0,
                new SessionContents(session).dropped(),
                connection == null ? null : connection.cleanStart(),
                connection == null ? null : connection.connectedAtMillis(),
                connection == null ? null : connection.front());
    }

    @AnyThread
    private static ClientInfo info(Session session) {
        return new ClientInfo(
                session.client(),
                session.isOnline(),
                session.subscriptions().size(),
                session.inFlightCount(),
                session.queuedCount());
    }
}
