// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.security;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.smqtt.BrokerModule;
import io.smqtt.admin.InvalidFieldException;
import io.smqtt.admin.account.Caller;
import io.smqtt.admin.account.Role;
import io.smqtt.admin.api.ApiCall;
import io.smqtt.admin.api.ApiObserver;
import io.smqtt.admin.api.ApiRequest;
import io.smqtt.log.LogLimiter;
import io.smqtt.spi.ClientNetwork;
import io.smqtt.thread.AnyThread;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * Records who has changed what at the management port: logins, refused requests and all requests that are not GET; reloads by a signal, and bans that
 * the broker makes by itself. In a file of JSON lines, or in the log without a file; the last 1,000 in memory. A thread of its own writes. Refused requests and logins of an address are recorded
 * up to 20 times a minute, of all together up to 200 times; so are requests that fail and those of viewers and publishers, for each caller.
 * Who may change nothing cannot push out older lines.
 */
@AnyThread
public final class Audit implements ApiObserver, BrokerModule {

    private static final Logger LOG = LoggerFactory.getLogger(Audit.class);
    private static final Logger LINES = LoggerFactory.getLogger("smqtt.audit");
    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final int REMEMBERED = 1_000;
    private static final int WAITING = 10_000;
    private static final int MAX_TEXT = 256;
    private static final int MAX_FAILURE = 2_000;
    private static final int DONE = 200;
    private static final int REFUSED = 400;
    private static final String SIGNAL = "signal";
    private static final String TRIAL = "/rule_test"; // changes nothing; a page sends one with each pause of typing
    private static final String BROKER = "broker";
    private static final String POST = "POST";
    private static final String LOGIN = "/login";

    /** Fields of bodies that say what is changed. None of them is ever a secret, except at a login, where people confuse user name and password. */
    private static final Set<String> SHOWN =
            Set.of("as", "who", "until", "name", "username", "role", "topic", "clientid", "enable");

    private static final long CLOSE_SECONDS = 3;

    private final @Nullable AuditFile file;
    private final Supplier<String> node;
    private final InstantSource clock;
    private final LogLimiter refusals = new LogLimiter(LOG, Level.WARN, 20, 200);
    private final LogLimiter ofCallers = new LogLimiter(LOG, Level.WARN, 20, 200);
    private final LogLimiter ofBroker = new LogLimiter(LOG, Level.WARN, 20);
    private final LogLimiter failures = new LogLimiter(LOG, Level.ERROR, 1);
    private final Deque<AuditEntry> last = new ArrayDeque<>(); // guarded by itself
    private final ThreadPoolExecutor writer =
            new ThreadPoolExecutor(1, 1, 0, TimeUnit.SECONDS, new LinkedBlockingQueue<>(WAITING), task -> {
                Thread thread = new Thread(task, "smqtt-audit");
                thread.setDaemon(true);
                return thread;
            });

    /**
     * Creates the audit; nothing is opened yet.
     *
     * @param settings where lines are written
     * @param node the name of this node
     * @param clock the wall clock
     */
    public Audit(AuditSettings settings, Supplier<String> node, InstantSource clock) {
        this.file =
                settings.file() == null ? null : new AuditFile(settings.file(), settings.maxBytes(), settings.files());
        this.node = node;
        this.clock = clock;
    }

    @Override
    public Mono<Void> start(Core core) {
        return Mono.empty();
    }

    @Override
    public void answered(ApiRequest request, int status, String failure) {
        if (request.route().method().equals("GET") || request.route().template().equals(TRIAL)) {
            return;
        }
        Caller caller = request.caller();
        boolean trusted = caller != null && caller.role().includes(Role.OPERATOR) && status < REFUSED;
        boolean login = caller == null && status < REFUSED;
        if (!trusted && !login && !isRecorded(caller, request.address())) {
            return; // who may change nothing can send as many as he likes
        }
        add(
                request.address(),
                caller,
                caller == null ? tried(request) : caller.name(),
                request.route().template(),
                request.route().method(),
                bindings(request),
                fields(request),
                values(request),
                status,
                cut(failure, MAX_FAILURE));
    }

    @Override
    public void refused(ApiCall call, @Nullable Caller caller, String template, int status, String code) {
        InetSocketAddress address = call.credentials().address();
        if (isRecorded(caller, address)) {
            String name = caller == null ? "" : caller.name();
            add(address, caller, name, template, call.method(), Map.of(), List.of(), Map.of(), status, code);
        }
    }

    /** Whether a request that changes nothing is recorded, or only counted: for its caller if that is known, else for its address. */
    private boolean isRecorded(@Nullable Caller caller, InetSocketAddress address) {
        if (caller != null) {
            return ofCallers.allows(caller.kind() + " " + caller.name());
        }
        InetAddress ip = address.getAddress();
        return refusals.allows(ip == null ? "" : ClientNetwork.of(ip));
    }

    private static String from(@Nullable Caller caller) {
        if (caller == null) {
            return "";
        }
        return switch (caller.kind()) {
            case USER, APPLICATION -> "dashboard";
            case TOKEN, API_KEY -> "rest_api";
        };
    }

    private void add(
            InetSocketAddress address,
            @Nullable Caller caller,
            String source,
            String operation,
            String method,
            Map<String, String> bindings,
            List<String> fields,
            Map<String, String> values,
            int status,
            String failure) {
        InetAddress ip = address.getAddress();
        add(new AuditEntry(
                clock.instant(),
                node.get(),
                from(caller),
                source,
                ip == null ? "" : ip.getHostAddress(),
                operation,
                cut(method),
                bindings,
                fields,
                values,
                status,
                failure));
    }

    /**
     * Records that a signal made this node read its files again, as a request for {@code /reload} does.
     *
     * @param failed what could not be used; empty if all could
     */
    public void reloadedBySignal(List<String> failed) {
        String failure = cut(String.join("; ", failed), MAX_FAILURE);
        add(ofProgram(SIGNAL, "SIGHUP", "/reload", new TreeMap<>(), failure));
    }

    /**
     * Records a ban that the broker has made by itself, as a request for {@code /banned} does; of each cause up to 20 in a minute.
     *
     * @param cause why, as metrics have it
     * @param as what is compared
     * @param who the client identifier, address or network
     * @param until when it ends; null for never
     */
    public void bannedByBroker(String cause, String as, String who, @Nullable Instant until) {
        if (ofBroker.allows(cause)) {
            String end = until == null ? "infinity" : until.toString();
            SortedMap<String, String> values = new TreeMap<>(Map.of("as", as, "who", cut(who), "until", end));
            add(ofProgram(BROKER, cause, "/banned", values, ""));
        }
    }

    private AuditEntry ofProgram(
            String from, String source, String operation, SortedMap<String, String> values, String failure) {
        return new AuditEntry(
                clock.instant(),
                node.get(),
                from,
                source,
                "",
                operation,
                POST,
                Map.of(),
                List.copyOf(values.keySet()),
                values,
                DONE,
                failure);
    }

    private void add(AuditEntry entry) {
        synchronized (last) {
            last.addLast(entry);
            if (last.size() > REMEMBERED) {
                last.removeFirst();
            }
        }
        try {
            writer.execute(() -> write(entry));
        } catch (RejectedExecutionException e) {
            lost(e);
        }
    }

    private void lost(Exception cause) {
        if (failures.allows("write")) {
            LOG.error("a line of the audit is not written", cause);
        }
    }

    private void write(AuditEntry entry) {
        try {
            String line = MAPPER.writeValueAsString(entry.toFields());
            if (file == null) {
                LINES.info("{}", line);
            } else {
                file.write((line + '\n').getBytes(StandardCharsets.UTF_8));
            }
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("fields hold only what JSON knows", e);
        } catch (IOException e) {
            lost(e);
        }
    }

    /** The user name of a login. */
    private static String tried(ApiRequest request) {
        try {
            String name = request.fields().textOrNull("username");
            return name == null || !name.matches("[A-Za-z0-9._@-]{1,100}") ? "" : name;
        } catch (InvalidFieldException e) { // it was refused for that
            return "";
        }
    }

    private static Map<String, String> bindings(ApiRequest request) {
        Map<String, String> all = new TreeMap<>();
        request.query().forEach((name, values) -> all.put(cut(name), cut(String.join(",", values))));
        request.path().forEach((name, value) -> all.put(name, cut(value)));
        return all;
    }

    private static List<String> fields(ApiRequest request) {
        List<String> names = new ArrayList<>();
        try {
            if (request.body().length > 0 && request.body()[0] == '{') {
                request.fields().node().fieldNames().forEachRemaining(name -> names.add(cut(name)));
            }
        } catch (InvalidFieldException e) { // it was refused for that
            return List.of();
        }
        return names;
    }

    private static Map<String, String> values(ApiRequest request) {
        Map<String, String> shown = new TreeMap<>();
        if (request.route().template().equals(LOGIN) || request.body().length == 0 || request.body()[0] != '{') {
            return shown;
        }
        try {
            JsonNode body = request.fields().node();
            for (String name : SHOWN) {
                JsonNode value = body.path(name);
                if (value.isValueNode() && !value.isNull()) {
                    shown.put(name, cut(value.asText()));
                }
            }
        } catch (InvalidFieldException e) { // it was refused for that
            return Map.of();
        }
        return shown;
    }

    private static String cut(String text) {
        return cut(text, MAX_TEXT);
    }

    private static String cut(String text, int length) {
        return text.length() <= length ? text : text.substring(0, length);
    }

    /** The last lines, the newest first. */
    List<AuditEntry> last() {
        synchronized (last) {
            List<AuditEntry> all = new ArrayList<>(last.size());
            last.descendingIterator().forEachRemaining(all::add);
            return all;
        }
    }

    /** Writes what waits, and closes the file. */
    @Override
    public Mono<Void> stop() {
        return Mono.<Void>fromRunnable(this::close).subscribeOn(Schedulers.boundedElastic());
    }

    private void close() {
        writer.shutdown();
        try {
            if (!writer.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS)) {
                LOG.warn("the last lines of the audit are not written");
            }
            if (file != null) {
                file.close();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (IOException e) {
            LOG.warn("the file of the audit cannot be closed", e);
        }
    }
}
