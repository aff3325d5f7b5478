// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MappingIterator;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.message.Will;
import io.smqtt.persistence.RocksBrokerStore;
import io.smqtt.spi.BrokerStore.CommitListener;
import io.smqtt.spi.BrokerStore.RecoveryVisitor;
import io.smqtt.spi.StoreWriter;
import io.smqtt.spi.StoredDelivery;
import io.smqtt.spi.StoredMessage;
import io.smqtt.spi.StoredQueue;
import io.smqtt.spi.StoredSession;
import io.smqtt.spi.StoredSubscription;
import java.io.IOException;
import java.io.InputStream;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads what {@link DataExport} wrote into an empty store. Sessions get new numbers. */
final class DataImport implements CommitListener, RecoveryVisitor {

    private static final int LINES_AT_ONCE = 500;
    private static final int FLUSHES_AHEAD = 8;

    private final RocksBrokerStore store;
    private final InputStream in;
    private final DataProgress progress;
    private final Map<Long, Long> numbers = new HashMap<>();
    private final long nowNanos = System.nanoTime();
    private long line;
    private long committed; // guarded by this
    private @Nullable Throwable failure; // guarded by this

    DataImport(RocksBrokerStore store, InputStream in, DataProgress progress) {
        this.store = store;
        this.in = in;
        this.progress = progress;
    }

    void run() throws IOException {
        store.recover(this);
        StoreWriter writer = store.writer(Runnable::run, this);
        long[] flushed = new long[FLUSHES_AHEAD];
        try (MappingIterator<JsonNode> lines =
                new ObjectMapper().readerFor(JsonNode.class).readValues(in)) {
            requireFormat(lines);
            while (lines.hasNextValue()) {
                line++;
                read(lines.nextValue(), writer);
                progress.line();
                if (line % LINES_AT_ONCE == 0) {
                    writer.flush();
                    int place = (int) (line / LINES_AT_ONCE % FLUSHES_AHEAD);
                    await(flushed[place]);
                    flushed[place] = writer.position();
                }
            }
        } catch (JsonProcessingException | RuntimeException e) {
            throw new BadDataException("line " + (line + 1) + ": " + firstLine(e));
        }
        writer.requireSync();
        writer.flush();
        await(writer.position());
    }

    private static String firstLine(Exception e) {
        String message = String.valueOf(e.getMessage());
        int end = message.indexOf('\n');
        return end < 0 ? message : message.substring(0, end);
    }

    private void requireFormat(MappingIterator<JsonNode> lines) throws IOException {
        JsonNode first = lines.hasNextValue() ? lines.nextValue() : null;
        if (first == null || !first.path("name").asText().equals(DataExport.FORMAT)) {
            throw new BadDataException("this is no export of smqtt's data");
        }
        if (first.path("version").asInt() != DataExport.VERSION) {
            throw new BadDataException(
                    "the export has version " + first.path("version") + ", this program knows " + DataExport.VERSION);
        }
        line++;
    }

    private void read(JsonNode node, StoreWriter writer) throws IOException {
        switch (node.path("type").asText()) {
            case "session" -> writer.putSession(session(node));
            case "subscription" -> writer.putSubscription(number(node), subscription(node));
            case "received" ->
                writer.putReceived(number(node), node.path("packetId").asInt());
            case "queued" -> writer.putMessage(number(node), queued(node));
            case "retained" -> writer.putRetained(message(node));
            default -> throw new BadDataException("there is no type " + node.path("type"));
        }
    }

    private ApplicationMessage message(JsonNode node) throws IOException {
        return JsonMessages.read(node.path("message"), nowNanos);
    }

    private long number(JsonNode node) {
        Long number = numbers.get(node.path("session").asLong());
        if (number == null) {
            throw new BadDataException("there is no session " + node.path("session") + " before this line");
        }
        return number;
    }

    private StoredSession session(JsonNode node) throws IOException {
        long number = store.newSession();
        numbers.put(node.path("session").asLong(), number);
        JsonNode user = node.path("userName");
        Will will = node.has("will")
                ? new Will(
                        JsonMessages.read(node.get("will"), nowNanos),
                        node.path("willDelaySeconds").asLong())
                : null;
        return new StoredSession(
                number,
                node.path("clientId").asText(),
                user.isTextual() ? user.asText() : null,
                node.path("expirySeconds").asLong(),
                deadline(node.path("expiresInMillis")),
                will,
                deadline(node.path("willInMillis")));
    }

    private long deadline(JsonNode node) {
        if (node.isMissingNode()) {
            return StoredSession.CONNECTED;
        }
        return node.isTextual() ? StoredSession.NEVER : Math.max(0, store.clockMillis() + node.asLong());
    }

    private static StoredSubscription subscription(JsonNode node) {
        return new StoredSubscription(
                node.path("filter").asText(),
                QoS.of(node.path("qos").asInt()),
                node.path("noLocal").asBoolean(),
                node.path("retainAsPublished").asBoolean(),
                node.path("identifier").asInt());
    }

    private StoredMessage queued(JsonNode node) throws IOException {
        int[] identifiers = new int[node.path("identifiers").size()];
        for (int i = 0; i < identifiers.length; i++) {
            identifiers[i] = node.path("identifiers").path(i).asInt();
        }
        StoredDelivery.State state =
                StoredDelivery.State.valueOf(node.path("state").asText());
        return new StoredMessage(
                node.path("sequence").asLong(),
                message(node),
                node.path("filter").asText(),
                QoS.of(node.path("qos").asInt()),
                node.path("retain").asBoolean(),
                identifiers,
                new StoredDelivery(state, node.path("packetId").asInt()));
    }

    private synchronized void await(long position) {
        try {
            while (failure == null && committed < position) {
                wait();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new BadDataException("interrupted");
        }
        if (failure != null) {
            throw new BadDataException("it cannot be stored: " + failure.getMessage());
        }
    }

    @Override
    public synchronized void committed(long position) {
        committed = position;
        notifyAll();
    }

    @Override
    public synchronized void failed(long position, Throwable cause) {
        failure = cause;
        notifyAll();
    }

    @Override
    public void session(StoredSession session, StoredQueue waiting) {
        throw notEmpty();
    }

    @Override
    public void subscription(StoredSubscription subscription) {
        throw notEmpty();
    }

    @Override
    public void received(int packetId) {
        throw notEmpty();
    }

    @Override
    public void retained(ApplicationMessage message) {
        throw notEmpty();
    }

    private static BadDataException notEmpty() {
        return new BadDataException("the data directory holds sessions or messages already; import into an empty one");
    }
}
