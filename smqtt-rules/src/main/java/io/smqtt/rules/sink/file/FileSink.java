// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sink.file;

import io.smqtt.rules.sink.BatchResult;
import io.smqtt.rules.sink.RowTemplate;
import io.smqtt.rules.sink.RowText;
import io.smqtt.rules.sink.Sink;
import io.smqtt.rules.sink.SinkException;
import io.smqtt.rules.sink.SinkRecord;
import io.smqtt.thread.AnyThread;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/** Appends a line for each row to a file, on a thread that exists while there is something to write. */
@AnyThread
final class FileSink implements Sink {

    private static final int IDLE_SECONDS = 60;

    private final RotatingFile file;
    private final @Nullable RowTemplate line;
    private final Scheduler thread;
    private volatile boolean closed;

    FileSink(String label, RotatingFile file, @Nullable RowTemplate line) {
        this.file = file;
        this.line = line;
        this.thread = Schedulers.fromExecutorService(executor(label));
    }

    private static ThreadPoolExecutor executor(String label) {
        ThreadPoolExecutor executor =
                new ThreadPoolExecutor(1, 1, IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> {
                    Thread made = new Thread(task, "smqtt-rule-file-" + label);
                    made.setDaemon(true);
                    return made;
                });
        executor.allowCoreThreadTimeOut(true);
        return executor;
    }

    /** A rotation with compression, or a slow disk, takes the time that it takes; what is written cannot be taken back. */
    @Override
    public boolean mayFallSilent() {
        return false;
    }

    @Override
    public Mono<BatchResult> send(List<SinkRecord> batch) {
        return Mono.fromCallable(() -> write(batch)).subscribeOn(thread);
    }

    private BatchResult write(List<SinkRecord> batch) {
        if (closed) {
            throw new SinkException("the sink is closed", true);
        }
        ByteArrayOutputStream lines = new ByteArrayOutputStream(256 * batch.size());
        for (SinkRecord each : batch) {
            String text = line == null ? RowText.json(each.row()) : line.json(each.row());
            lines.writeBytes(text.replace('\n', ' ').getBytes(StandardCharsets.UTF_8));
            lines.write('\n');
        }
        try {
            file.append(lines.toByteArray());
            return BatchResult.DONE;
        } catch (IOException e) {
            throw failure(e);
        }
    }

    private static SinkException failure(IOException e) {
        return new SinkException("the file cannot be written: " + e.getMessage(), true);
    }

    @Override
    public Mono<Void> check() {
        return Mono.<Void>fromRunnable(() -> {
                    try {
                        file.check();
                    } catch (IOException e) {
                        throw failure(e);
                    }
                })
                .subscribeOn(thread);
    }

    @Override
    public void close() {
        closed = true;
        thread.dispose();
        file.close();
    }
}
