// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectReader;
import io.smqtt.admin.JsonFields;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.message.Will;
import io.smqtt.persistence.RocksBrokerStore;
import io.smqtt.spi.BrokerStore.CommitListener;
import io.smqtt.spi.StoreWriter;
import io.smqtt.spi.StoredDelivery;
import io.smqtt.spi.StoredMessage;
import io.smqtt.spi.StoredSession;
import io.smqtt.spi.StoredSubscription;
import io.smqtt.topic.SharedFilter;
import io.smqtt.topic.TopicFilter;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;

/**
 * Reads what {@link DataExport} wrote into an empty store, line by line. Sessions get new numbers. In memory are the
 * names and numbers of sessions, and what waits for the disk.
 */
final class DataImport implements CommitListener {

    private static final int LINES_AT_ONCE = 500;
    private static final int FLUSHES_AHEAD = 8;
    private static final int MAX_SUBSCRIPTION_IDENTIFIER = 268_435_455;
    private static final int MAX_PACKET_ID = 65_535;

    private final RocksBrokerStore store;
    private final InputStream in;
    private final DataProgress progress;
    private final ObjectReader json = new ObjectMapper(JsonFactory.builder()
                    .streamReadConstraints(StreamReadConstraints.builder()
                            .maxStringLength(Integer.MAX_VALUE) // a payload may have 256 MiB
                            .build())
                    .build())
            .reader()
            .with(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);
    private final Map<Long, Session> sessions = new HashMap<>();
    private final Set<String> clientIds = new HashSet<>();
    private final Map<String, Long> counts = new HashMap<>();
    private final long nowNanos = System.nanoTime();
    private long line;
    private boolean ended;
    private long committed; // guarded by this
    private @Nullable Throwable failure; // guarded by this

    private static final class Session {

        private final long number;
        private long lastSequence;

        Session(long number) {
            this.number = number;
        }
    }

    DataImport(RocksBrokerStore store, InputStream in, DataProgress progress) {
        this.store = store;
        this.in = in;
        this.progress = progress;
    }

    /**
     * Reads everything.
     *
     * @throws BadDataException if a line cannot be used, with its number, or the last one is missing
     * @throws IOException if the input cannot be read
     */
    void run() throws IOException {
        store.recover(new EmptyStore());
        StoreWriter writer = store.writer(Runnable::run, this);
        long[] flushed = new long[FLUSHES_AHEAD];
        BufferedReader lines = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8.newDecoder()));
        for (String text = next(lines); text != null; text = next(lines)) {
            take(text, writer);
            progress.line();
            if (line % LINES_AT_ONCE == 0) {
                writer.flush();
                int place = (int) (line / LINES_AT_ONCE % FLUSHES_AHEAD);
                await(flushed[place]);
                flushed[place] = writer.position();
            }
        }
        if (!ended) {
            throw new BadDataException(
                    "the export is not whole: it ends after line " + line + " without a line of type end");
        }
        writer.requireSync();
        writer.flush();
        await(writer.position());
    }

    private @Nullable String next(BufferedReader lines) throws IOException {
        try {
            String text = lines.readLine();
            if (text != null) {
                line++;
            }
            return text;
        } catch (CharacterCodingException e) {
            throw new BadDataException("after line " + line + ": this is not UTF-8");
        }
    }

    private void take(String text, StoreWriter writer) {
        try {
            JsonNode node = json.readTree(text);
            if (!node.isObject()) {
                throw new BadDataException("this is no JSON object");
            }
            JsonFields fields = new JsonFields(node);
            if (line == 1) {
                requireFormat(fields);
            } else if (ended) {
                throw new BadDataException("there is something behind the line of type end");
            } else {
                read(fields, writer);
            }
        } catch (JsonProcessingException e) {
            throw new BadDataException("line " + line + ": this is no JSON, at character "
                    + e.getLocation().getColumnNr()); // the parser's words quote what it read
        } catch (BadDataException | IllegalArgumentException e) {
            throw new BadDataException("line " + line + ": " + e.getMessage());
        }
    }

    private static void requireFormat(JsonFields first) {
        if (!first.has("name") || !first.text("name").equals(DataExport.FORMAT)) {
            throw new BadDataException("this is no export of smqtt's data");
        }
        long version = first.number("version", 0, Long.MAX_VALUE);
        if (version != DataExport.VERSION) {
            throw new BadDataException(
                    "the export has version " + version + ", this program knows " + DataExport.VERSION);
        }
    }

    private void read(JsonFields fields, StoreWriter writer) {
        String type = fields.text("type");
        switch (type) {
            case "session" -> writer.putSession(session(fields));
            case "subscription" -> writer.putSubscription(of(fields).number, subscription(fields));
            case "received" -> writer.putReceived(of(fields).number, (int) fields.number("packetId", 1, MAX_PACKET_ID));
            case "queued" -> {
                Session session = of(fields);
                writer.putMessage(session.number, queued(fields, session));
            }
            case "retained" -> writer.putRetained(message(fields));
            case "end" -> requireAll(fields);
            default -> throw new BadDataException("there is no type " + type);
        }
        counts.merge(type, 1L, Long::sum);
    }

    /** The last line counts the others; a count that somebody has taken out of it is not compared. */
    private void requireAll(JsonFields end) {
        requireCount(end, "sessions", "session");
        requireCount(end, "subscriptions", "subscription");
        requireCount(end, "received", "received");
        requireCount(end, "queued", "queued");
        requireCount(end, "retained", "retained");
        ended = true;
    }

    private void requireCount(JsonFields end, String name, String type) {
        long found = counts.getOrDefault(type, 0L);
        if (end.has(name) && end.number(name, 0, Long.MAX_VALUE) != found) {
            throw new BadDataException("the export is not whole: there should be " + end.number(name, 0, Long.MAX_VALUE)
                    + " lines of type " + type + ", and are " + found);
        }
    }

    private ApplicationMessage message(JsonFields fields) {
        return JsonMessages.read(fields.object("message"), nowNanos);
    }

    private Session of(JsonFields fields) {
        long number = fields.number("session", Long.MIN_VALUE, Long.MAX_VALUE);
        Session session = sessions.get(number);
        if (session == null) {
            throw new BadDataException("there is no session " + number + " before this line");
        }
        return session;
    }

    private StoredSession session(JsonFields fields) {
        String clientId = fields.text("clientId");
        if (!clientIds.add(clientId)) {
            throw new BadDataException("there is another session of the client " + clientId);
        }
        Session session = new Session(store.newSession());
        if (sessions.put(fields.number("session", Long.MIN_VALUE, Long.MAX_VALUE), session) != null) {
            throw new BadDataException("there is another session of this number");
        }
        Will will = fields.has("will")
                ? new Will(
                        JsonMessages.read(fields.object("will"), nowNanos),
                        fields.number("willDelaySeconds", 0, JsonMessages.MAX_INTERVAL_SECONDS))
                : null;
        return new StoredSession(
                session.number,
                clientId,
                fields.textOrNull("userName"),
                roles(fields),
                fields.number("expirySeconds", 0, JsonMessages.MAX_INTERVAL_SECONDS),
                deadline(fields, "expiresInMillis"),
                will,
                deadline(fields, "willInMillis"));
    }

    private static Set<String> roles(JsonFields fields) {
        return StreamSupport.stream(fields.elements("roles").spliterator(), false)
                .map(JsonNode::asText)
                .collect(Collectors.toSet());
    }

    /** Missing while a client is connected. */
    private long deadline(JsonFields fields, String name) {
        if (!fields.has(name)) {
            return StoredSession.CONNECTED;
        }
        if (fields.node().get(name).isTextual() && fields.text(name).equals(DataExport.NEVER)) {
            return StoredSession.NEVER;
        }
        return Math.max(0, store.clockMillis() + fields.number(name, -Long.MAX_VALUE / 2, Long.MAX_VALUE / 2));
    }

    private static StoredSubscription subscription(JsonFields fields) {
        return new StoredSubscription(
                filter(fields), qos(fields), fields.flag("noLocal"), fields.flag("retainAsPublished"), (int)
                        fields.number("identifier", 0, MAX_SUBSCRIPTION_IDENTIFIER));
    }

    private static String filter(JsonFields fields) {
        String text = fields.text("filter");
        if (SharedFilter.isShared(text)) {
            SharedFilter.of(text);
        } else {
            TopicFilter.of(text);
        }
        return text;
    }

    private static QoS qos(JsonFields fields) {
        return QoS.of((int) fields.number("qos", 0, 2));
    }

    private StoredMessage queued(JsonFields fields, Session session) {
        long sequence = fields.number("sequence", session.lastSequence + 1, Long.MAX_VALUE - 1);
        session.lastSequence = sequence;
        return new StoredMessage(
                sequence,
                message(fields),
                filter(fields),
                qos(fields),
                fields.flag("retain"),
                identifiers(fields),
                delivery(fields));
    }

    private static int[] identifiers(JsonFields fields) {
        return StreamSupport.stream(fields.elements("identifiers").spliterator(), false)
                .mapToInt(JsonNode::asInt)
                .toArray();
    }

    private static StoredDelivery delivery(JsonFields fields) {
        StoredDelivery.State state = StoredDelivery.State.valueOf(fields.text("state"));
        return state == StoredDelivery.State.WAITING
                ? StoredDelivery.WAITING
                : new StoredDelivery(state, (int) fields.number("packetId", 1, MAX_PACKET_ID));
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
}
