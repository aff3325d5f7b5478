// SPDX-License-Identifier: Apache-2.0
package io.smqtt.trace;

import io.smqtt.spi.LifecycleObserver;
import io.smqtt.thread.AnyThread;
import io.smqtt.trace.RunningTraces.Running;
import io.smqtt.trace.TraceEvent.Kind;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/**
 * The traces of a broker: listeners that see what happens to one client, to the messages of some topics, or to the clients of one address, on
 * this node. While no trace runs, an event loop reads one field per packet and does nothing else.
 */
@AnyThread
public final class Traces implements LifecycleObserver {

    private final Set<Running> all = new LinkedHashSet<>(); // guarded by this
    private volatile List<? extends TracedLoop> loops = List.of();
    private volatile @Nullable RunningTraces running;

    /** Creates it without traces. */
    public Traces() {}

    /**
     * Sets the event loops. Called once, before the first trace starts.
     *
     * @param eventLoops all event loops of the broker
     */
    public void observe(List<? extends TracedLoop> eventLoops) {
        loops = List.copyOf(eventLoops);
    }

    /**
     * Starts a trace. Nothing happens before subscription.
     *
     * @param subject what the trace is about
     * @param payloadBytes the maximum number of bytes of a payload that the listener gets; 0 if payloads are hidden. Another trace of the same
     *     message can make it more
     * @param listener receives the events
     * @return completes when all event loops report to the listener; the value ends the trace. Fails with {@link RejectedExecutionException}
     *     if the broker has stopped. A start that fails or is cancelled leaves no trace
     */
    public Mono<Disposable> start(TraceSubject subject, int payloadBytes, TraceListener listener) {
        return Mono.defer(() -> {
            Running trace = new Running(subject, payloadBytes, listener);
            synchronized (this) {
                all.add(trace);
                update();
            }
            return told().<Disposable>thenReturn(() -> end(trace))
                    .doOnError(error -> end(trace))
                    .doOnCancel(() -> end(trace));
        });
    }

    private void end(Running trace) {
        trace.end();
        synchronized (this) {
            all.remove(trace);
            update();
        }
        told().subscribe(done -> {}, error -> {}); // a broker that has stopped has no event loops to tell
    }

    private void update() {
        running = all.isEmpty() ? null : new RunningTraces(List.copyOf(all));
    }

    /** Completes when all event loops have the traces of now, or of later. */
    private Mono<Void> told() {
        return Mono.create(sink -> {
            AtomicInteger missing = new AtomicInteger(loops.size());
            try {
                for (TracedLoop loop : loops) {
                    loop.executor().execute(() -> {
                        loop.traces(running);
                        if (missing.decrementAndGet() == 0) {
                            sink.success();
                        }
                    });
                }
            } catch (RejectedExecutionException e) {
                sink.error(e);
            }
        });
    }

    @Override
    public void sessionCreated(String clientId) {
        report(Kind.SESSION_CREATED, clientId, new TraceDetails());
    }

    @Override
    public void sessionTakenOver(String clientId) {
        report(Kind.SESSION_TAKEN_OVER, clientId, new TraceDetails());
    }

    @Override
    public void sessionEnded(String clientId, boolean expired) {
        report(Kind.SESSION_ENDED, clientId, new TraceDetails().with("expired", expired));
    }

    @Override
    public void willPublished(String clientId) {
        report(Kind.WILL_PUBLISHED, clientId, new TraceDetails());
    }

    private void report(Kind kind, String clientId, TraceDetails details) {
        RunningTraces current = running;
        if (current != null && current.include(clientId, null, null, List.of())) {
            current.report(
                    new TraceEvent(
                            System.currentTimeMillis(),
                            kind,
                            clientId,
                            null,
                            null,
                            null,
                            0,
                            new byte[0],
                            details.toMap()),
                    List.of());
        }
    }
}
