// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** Messages that a client received and no scenario has taken yet. */
final class Inbox {

    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private final BlockingQueue<Message> messages = new LinkedBlockingQueue<>();

    void add(Message message) {
        messages.add(message);
    }

    Message next() throws InterruptedException {
        Message message = messages.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        if (message == null) {
            throw new AssertionError("no message within " + PATIENCE);
        }
        return message;
    }
}
