// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.jgroups;

import java.io.IOException;
import java.net.Socket;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** A peer that sends byte by byte, each of them soon enough and all of them far too late. */
final class Dribble {

    private static final int PAUSE_MILLIS = 100;

    private Dribble() {}

    static ScheduledExecutorService clock() {
        return Executors.newSingleThreadScheduledExecutor(task -> {
            Thread thread = new Thread(task, "dribble");
            thread.setDaemon(true);
            return thread;
        });
    }

    static void send(ScheduledExecutorService clock, Socket socket, byte[] bytes) {
        AtomicInteger next = new AtomicInteger();
        clock.scheduleWithFixedDelay(
                () -> {
                    int at = next.getAndIncrement();
                    if (at < bytes.length) {
                        write(socket, bytes[at]);
                    }
                },
                0,
                PAUSE_MILLIS,
                TimeUnit.MILLISECONDS);
    }

    private static void write(Socket socket, byte single) {
        try {
            socket.getOutputStream().write(single);
        } catch (IOException e) { // hung up on, which ends this
            throw new java.io.UncheckedIOException(e);
        }
    }
}
