// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.Will;
import io.smqtt.persistence.RocksBrokerStore;
import io.smqtt.spi.BrokerStore.RecoveryVisitor;
import io.smqtt.spi.StoredMessage;
import io.smqtt.spi.StoredPage;
import io.smqtt.spi.StoredQueue;
import io.smqtt.spi.StoredSession;
import io.smqtt.spi.StoredSubscription;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;

/**
 * Writes a store as lines of JSON, one object each. The first line names the format, the last one counts the others;
 * sessions come before what belongs to them, which names them by number. Moments are written as milliseconds from now,
 * since the store's clock means nothing elsewhere. Nothing is held in memory but the numbers of sessions with messages.
 */
final class DataExport implements RecoveryVisitor {

    static final String FORMAT = "smqtt-data";
    static final int VERSION = 1;
    static final String NEVER = "never";

    private static final int PAGE_MESSAGES = 1_000;
    private static final int PAGE_BYTES = 4 << 20;

    private final RocksBrokerStore store;
    private final JsonGenerator json;
    private final JsonMessages messages;
    private final DataProgress progress;
    private long[] waiting = new long[64];
    private int waitingCount;
    private long session;
    private long sessions;
    private long subscriptions;
    private long received;
    private long queued;
    private long retained;

    DataExport(RocksBrokerStore store, OutputStream out, DataProgress progress) throws IOException {
        this.store = store;
        this.progress = progress;
        json = new JsonFactory().createGenerator(out);
        json.setRootValueSeparator(null);
        messages = new JsonMessages(json, System.nanoTime());
    }

    void run() throws IOException {
        begin("format");
        json.writeStringField("name", FORMAT);
        json.writeNumberField("version", VERSION);
        end();
        try {
            store.recover(this);
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
        for (int i = 0; i < waitingCount; i++) {
            queue(waiting[i]);
        }
        begin("end");
        json.writeNumberField("sessions", sessions);
        json.writeNumberField("subscriptions", subscriptions);
        json.writeNumberField("received", received);
        json.writeNumberField("queued", queued);
        json.writeNumberField("retained", retained);
        end();
        json.flush();
    }

    String summary() {
        return sessions + " sessions, " + subscriptions + " subscriptions, " + queued + " queued messages, " + retained
                + " retained messages";
    }

    private void begin(String type) throws IOException {
        json.writeStartObject();
        json.writeStringField("type", type);
    }

    private void end() throws IOException {
        json.writeEndObject();
        json.writeRaw('\n');
        progress.line();
    }

    @Override
    public void session(StoredSession header, StoredQueue queue) {
        session = header.number();
        sessions++;
        if (queue.messages() > 0) {
            if (waitingCount == waiting.length) {
                waiting = Arrays.copyOf(waiting, waitingCount * 2);
            }
            waiting[waitingCount++] = session;
        }
        write(() -> {
            begin("session");
            json.writeNumberField("session", header.number());
            json.writeStringField("clientId", header.clientId());
            json.writeStringField("userName", header.userName());
            if (!header.roles().isEmpty()) {
                json.writeFieldName("roles");
                String[] roles = header.roles().stream().sorted().toArray(String[]::new);
                json.writeArray(roles, 0, roles.length);
            }
            json.writeNumberField("expirySeconds", header.expirySeconds());
            deadline("expiresInMillis", header.expiresAtMillis());
            Will will = header.will();
            if (will != null) {
                deadline("willInMillis", header.willAtMillis());
                json.writeNumberField("willDelaySeconds", will.delaySeconds());
                json.writeFieldName("will");
                messages.write(will.message());
            }
            end();
        });
    }

    /** Left out while a client is connected. */
    private void deadline(String name, long millis) throws IOException {
        if (millis == StoredSession.NEVER) {
            json.writeStringField(name, NEVER);
        } else if (millis != StoredSession.CONNECTED) {
            json.writeNumberField(name, millis - store.clockMillis());
        }
    }

    @Override
    public void subscription(StoredSubscription subscription) {
        subscriptions++;
        write(() -> {
            begin("subscription");
            json.writeNumberField("session", session);
            json.writeStringField("filter", subscription.clientFilter());
            json.writeNumberField("qos", subscription.maximumQos().level());
            json.writeBooleanField("noLocal", subscription.noLocal());
            json.writeBooleanField("retainAsPublished", subscription.retainAsPublished());
            json.writeNumberField("identifier", subscription.identifier());
            end();
        });
    }

    @Override
    public void received(int packetId) {
        received++;
        write(() -> {
            begin("received");
            json.writeNumberField("session", session);
            json.writeNumberField("packetId", packetId);
            end();
        });
    }

    @Override
    public void retained(ApplicationMessage message) {
        retained++;
        write(() -> {
            begin("retained");
            json.writeFieldName("message");
            messages.write(message);
            end();
        });
    }

    private void queue(long number) throws IOException {
        long from = 0;
        while (true) {
            StoredPage page = page(number, from);
            if (page.messages().isEmpty()) {
                return;
            }
            for (StoredMessage message : page.messages()) {
                queued(number, message);
                from = message.sequence() + 1;
            }
        }
    }

    private StoredPage page(long number, long from) {
        CompletableFuture<StoredPage> answer = new CompletableFuture<>();
        store.read(number, from, PAGE_MESSAGES, PAGE_BYTES, Runnable::run, answer::complete);
        StoredPage page = answer.join();
        Throwable failure = page.failure();
        if (failure != null) {
            throw failure instanceof RuntimeException known ? known : new IllegalStateException(failure);
        }
        return page;
    }

    private void queued(long number, StoredMessage message) throws IOException {
        queued++;
        begin("queued");
        json.writeNumberField("session", number);
        json.writeNumberField("sequence", message.sequence());
        json.writeStringField("filter", message.clientFilter());
        json.writeNumberField("qos", message.qos().level());
        json.writeBooleanField("retain", message.retain());
        json.writeFieldName("identifiers");
        json.writeArray(message.identifiers(), 0, message.identifiers().length);
        json.writeStringField("state", message.delivery().state().name());
        json.writeNumberField("packetId", message.delivery().packetId());
        json.writeFieldName("message");
        messages.write(message.message());
        end();
    }

    private static void write(Writing writing) {
        try {
            writing.write();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private interface Writing {
        void write() throws IOException;
    }
}
