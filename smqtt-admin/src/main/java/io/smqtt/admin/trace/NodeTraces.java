// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.trace;

import io.smqtt.BrokerModule;
import io.smqtt.admin.object.LiveObject;
import io.smqtt.admin.object.LiveObjects;
import io.smqtt.admin.object.ObjectKind;
import io.smqtt.admin.object.ObjectLimits;
import io.smqtt.admin.object.ObjectWatcher;
import io.smqtt.thread.AnyThread;
import io.smqtt.trace.Traces;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * The traces of this node. Every node runs every trace and writes to a file of its own. One thread starts, writes and ends them; without a
 * trace that runs it does nothing.
 */
@AnyThread
public final class NodeTraces implements BrokerModule {

    /** Maximum number of traces, ended ones included. */
    static final int MAX_TRACES = 30;

    /** Maximum size of a file. */
    static final long MAX_FILE_BYTES = 10L << 20;

    private static final Logger LOG = LoggerFactory.getLogger(NodeTraces.class);
    private static final long MAX_WAITING_BYTES = 16L << 20;
    private static final long WRITE_MILLIS = 50;
    private static final Duration PATIENCE = Duration.ofSeconds(3);

    private final ObjectKind<TraceSpec> specs;
    private final TraceFiles files;
    private final Supplier<String> node;
    private final InstantSource clock;
    private final TraceBudget budget = new TraceBudget(MAX_WAITING_BYTES);
    private final ScheduledThreadPoolExecutor worker = new ScheduledThreadPoolExecutor(1, task -> {
        Thread thread = new Thread(task, "smqtt-trace");
        thread.setDaemon(true);
        return thread;
    });
    private volatile @Nullable Traces broker;

    // on the worker
    private final Map<String, Running> running = new HashMap<>();
    private boolean writing;

    /**
     * A trace that records.
     *
     * @param spec the trace
     * @param recorder receives its events
     * @param registration ends it
     */
    private record Running(TraceSpec spec, TraceRecorder recorder, Disposable registration) {}

    /**
     * Creates the traces of a node; nothing is started.
     *
     * @param objects keeps what operators have started
     * @param folder the folder of the files; null for a temporary one
     * @param node the name of this node
     * @param clock the time of day
     */
    public NodeTraces(LiveObjects objects, @Nullable Path folder, Supplier<String> node, InstantSource clock) {
        this.specs = objects.kind("trace", new TraceFormat(), ObjectLimits.FEW, (before, after) -> {
            if (after.size() > Math.max(MAX_TRACES, before.size())) {
                throw new IllegalArgumentException("there are at most " + MAX_TRACES + " traces");
            }
        });
        this.files = new TraceFiles(folder);
        this.node = node;
        this.clock = clock;
        worker.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
        worker.setContinueExistingPeriodicTasksAfterShutdownPolicy(false);
        worker.setRemoveOnCancelPolicy(true);
    }

    /** What operators have started. */
    ObjectKind<TraceSpec> specs() {
        return specs;
    }

    TraceFiles files() {
        return files;
    }

    String node() {
        return node.get();
    }

    InstantSource clock() {
        return clock;
    }

    @Override
    public Mono<Void> start(Core core) {
        return Mono.fromRunnable(() -> broker = core.broker().traces());
    }

    @Override
    public void listening() {
        specs.watch(new ObjectWatcher<>() {

            @Override
            public void changed(LiveObject<TraceSpec> object) {
                later(() -> apply(object.id()), Duration.ZERO);
            }

            @Override
            public void removed(String id) {
                later(() -> apply(id), Duration.ZERO);
            }
        });
        later(this::deleteOthers, Duration.ZERO);
    }

    private void later(Runnable task, Duration delay) {
        try {
            worker.schedule(() -> guarded(task), delay.toMillis(), TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException e) {
            LOG.debug("the traces have stopped", e);
        }
    }

    private static void guarded(Runnable task) {
        try {
            task.run();
        } catch (RuntimeException e) { // the other traces go on
            LOG.error("a trace failed", e);
        }
    }

    /** Makes a trace on this node what its object says it is now. */
    private void apply(String name) {
        LiveObject<TraceSpec> object = specs.get(name);
        TraceSpec spec = object == null ? null : object.value();
        Instant now = clock.instant();
        Running present = running.get(name);
        TraceSpec.Status status = spec == null ? TraceSpec.Status.STOPPED : spec.status(now);
        if (present != null && (status != TraceSpec.Status.RUNNING || !present.spec.equals(spec))) {
            end(name, present);
            present = null;
        }
        if (spec == null) {
            deleteOthers();
        } else if (status == TraceSpec.Status.WAITING) {
            later(() -> apply(name), Duration.between(now, spec.start()).plusMillis(1));
        } else if (status == TraceSpec.Status.RUNNING) {
            if (present == null) {
                begin(name, spec);
            }
            later(() -> apply(name), Duration.between(now, spec.end()).plusMillis(1));
        }
    }

    private void begin(String name, TraceSpec spec) {
        Traces traces = broker;
        if (traces == null) {
            return;
        }
        try {
            TraceRecorder recorder =
                    new TraceRecorder(new TraceLine(node.get(), spec), budget, files.open(name, spec), MAX_FILE_BYTES);
            running.put(name, new Running(spec, recorder, registration(traces, spec, recorder)));
            scheduleWrite();
        } catch (IOException e) {
            LOG.error("the trace {} cannot be written on this node", name, e);
        }
    }

    private static Disposable registration(Traces traces, TraceSpec spec, TraceRecorder recorder) throws IOException {
        int payloadBytes = spec.encoding() == TraceSpec.Encoding.HIDDEN ? 0 : spec.payloadBytes();
        try {
            return Objects.requireNonNull(
                    traces.start(spec.subject(), payloadBytes, recorder).block(PATIENCE));
        } catch (RuntimeException e) { // an event loop has not answered in time
            recorder.close();
            throw e;
        }
    }

    private void scheduleWrite() {
        if (!writing && !running.isEmpty()) {
            writing = true;
            later(this::writeAll, Duration.ofMillis(WRITE_MILLIS));
        }
    }

    private void writeAll() {
        writing = false;
        Map.copyOf(running).forEach((name, trace) -> {
            try {
                trace.recorder.write();
            } catch (IOException e) {
                LOG.error("the trace {} cannot be written, and has ended on this node", name, e);
                end(name, trace);
            }
        });
        scheduleWrite();
    }

    private void end(String name, Running trace) {
        running.remove(name);
        trace.registration.dispose();
        try (TraceRecorder recorder = trace.recorder) {
            recorder.write();
            recorder.end();
            recorder.write(); // what other threads have added in the meantime is given back
        } catch (IOException e) {
            LOG.warn("the end of the trace {} is not written", name, e);
        }
    }

    /** Deletes the files of traces that exist no more. */
    private void deleteOthers() {
        Map<String, TraceSpec> known = new HashMap<>();
        specs.list().forEach(object -> known.put(object.id(), object.value()));
        try {
            files.keepOnly(known);
        } catch (IOException e) {
            LOG.warn("files of traces cannot be deleted", e);
        }
    }

    /** Writes what waits, and closes the files. */
    @Override
    public Mono<Void> stop() {
        return Mono.<Void>fromRunnable(this::close).subscribeOn(Schedulers.boundedElastic());
    }

    private void close() {
        try {
            worker.submit(() -> Map.copyOf(running).forEach(this::end)).get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
            files.close();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException | TimeoutException e) {
            LOG.warn("the last lines of the traces are not written", e);
        } catch (IOException e) {
            LOG.warn("the temporary files of the traces cannot be deleted", e);
        } finally {
            worker.shutdownNow();
        }
    }
}
