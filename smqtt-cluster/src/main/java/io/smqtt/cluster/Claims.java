// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.log.LogLimiter;
import io.smqtt.message.LogText;
import io.smqtt.message.ReasonCode;
import io.smqtt.spi.ClaimRefusedException;
import io.smqtt.spi.ClientIdentity;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * The claims of this node's clients, from the CONNECT until the session is open. Each is decided by the coordinator of its client
 * identifier, which changes when nodes join or leave.
 */
@OnClusterLoop
final class Claims {

    /** The timeout of a claim, after which the client is refused and may retry. Shorter than the broker's own timeout. */
    private static final long PATIENCE_NANOS = Duration.ofSeconds(20).toNanos();

    /** The timeout of a claim for which no session may begin: a node or a session may come back meanwhile. */
    private static final long DOUBT_NANOS = Duration.ofSeconds(3).toNanos();

    private static final Logger LOG = LoggerFactory.getLogger(Claims.class);
    private static final int LINES_PER_MINUTE = 6;

    private final LogLimiter lines = new LogLimiter(LOG, Level.WARN, LINES_PER_MINUTE);
    private final ClientWire wire;
    private final LocalClients local;
    private final NewSessions fresh;
    private final long retryNanos;
    private final BiConsumer<String, Long> owned;
    private final Map<Long, Open> byNumber = new HashMap<>();
    private final IdentityHashMap<ClientIdentity, Open> byClient = new IdentityHashMap<>();
    private final Map<String, List<Open>> byClientId = new HashMap<>();
    private long numbers;

    /**
     * Creates the table.
     *
     * @param fresh decides whether a session may begin
     * @param owned called for each client that this node owns, with the clock of its claim
     */
    Claims(ClientWire wire, LocalClients local, NewSessions fresh, Duration retry, BiConsumer<String, Long> owned) {
        this.wire = wire;
        this.local = local;
        this.fresh = fresh;
        this.retryNanos = retry.toNanos();
        this.owned = owned;
    }

    private static final class Open {

        private final ClientIdentity client;
        private final Frame.Purpose purpose;
        private final boolean guarded;
        private final Consumer<@Nullable ClaimRefusedException> outcome;
        private long number;
        private final long sinceNanos;
        private long askedAtNanos;
        private String asked = "";
        private boolean granted;
        private boolean outdated;
        private long clock;

        /** Why no session may begin for the client, as long as none was found. */
        private @Nullable String doubt;

        Open(
                ClientIdentity client,
                Frame.Purpose purpose,
                boolean guarded,
                Consumer<@Nullable ClaimRefusedException> outcome,
                long number,
                long nowNanos) {
            this.client = client;
            this.purpose = purpose;
            this.guarded = guarded;
            this.outcome = outcome;
            this.number = number;
            this.sinceNanos = nowNanos;
        }
    }

    /**
     * Claims an identifier.
     *
     * @param stored whether a session that begins is stored
     * @param outcome receives null if this node owns it, otherwise the reason why not
     */
    void claim(
            ClientIdentity client,
            Frame.Purpose purpose,
            boolean stored,
            Consumer<@Nullable ClaimRefusedException> outcome) {
        boolean guarded = stored && fresh.isGuarded();
        Open claim = new Open(client, purpose, guarded, outcome, ++numbers, wire.nanoTime());
        byNumber.put(claim.number, claim);
        byClient.put(client, claim);
        byClientId.computeIfAbsent(client.clientId(), id -> new ArrayList<>(1)).add(claim);
        ask(claim);
    }

    private void ask(Open claim) {
        String clientId = claim.client.clientId();
        claim.askedAtNanos = wire.nanoTime();
        if (claim.guarded && claim.purpose == Frame.Purpose.DISCARD) {
            claim.doubt = fresh.refusal(clientId);
            if (claim.doubt != null) {
                return; // asked when that is over
            }
        }
        claim.asked = Coordinator.of(clientId, wire.self().nodeId(), wire.others());
        wire.send(
                claim.asked,
                new Frame.Claim(
                        claim.number,
                        clientId,
                        claim.purpose,
                        claim.client.userName(),
                        local.clockOf(clientId),
                        claim.guarded));
    }

    /** Whether a claim waits for its decision. */
    boolean isOpen(long number) {
        Open claim = byNumber.get(number);
        return claim != null && !claim.granted;
    }

    /** Whether a claim that waits for its decision may be for a session that is about to be served. */
    boolean mayWait(long number) {
        Open claim = byNumber.get(number);
        if (claim == null || claim.granted) {
            return false;
        }
        return claim.purpose == Frame.Purpose.RESUME || claim.guarded && !local.hasSession(claim.client.clientId());
    }

    /** The decision about a claim counts no longer: a node that had no session is about to serve those of a failed one. */
    void outdated(long number) {
        Open claim = byNumber.get(number);
        if (claim != null) {
            claim.outdated = true;
        }
    }

    /**
     * Asks again if the decision about a claim does not count.
     *
     * @return whether it has asked
     */
    boolean isAskedAgain(long number) {
        Open claim = byNumber.get(number);
        if (claim == null || !claim.outdated) {
            return false;
        }
        claim.outdated = false;
        claim.doubt = null;
        byNumber.remove(number);
        wire.send(claim.asked, new Frame.Settled(number, claim.client.clientId()));
        claim.asked = "";
        claim.number = ++numbers;
        byNumber.put(claim.number, claim);
        ask(claim);
        return true;
    }

    /** Whether any claim of a client is in progress. */
    boolean concerns(String clientId) {
        return any(clientId, claim -> true);
    }

    /** Whether a claim was granted and its session is not open yet. */
    boolean isOpening(String clientId) {
        return any(clientId, claim -> claim.granted);
    }

    /** Whether a claim was granted later than that. */
    boolean isNewer(String clientId, long clock) {
        return any(clientId, claim -> claim.granted && claim.clock > clock);
    }

    private boolean any(String clientId, Predicate<Open> condition) {
        return byClientId.getOrDefault(clientId, List.of()).stream().anyMatch(condition);
    }

    void granted(String from, Frame.Granted decision) {
        Open claim = byNumber.get(decision.number());
        if (claim == null) { // timed out, or completed
            wire.send(from, new Frame.Settled(decision.number(), decision.clientId()));
            return;
        }
        claim.asked = from;
        if (claim.granted) {
            return;
        }
        claim.doubt = decision.granted() && claim.guarded ? fresh.refusal(decision) : null;
        if (claim.doubt != null) {
            claim.outdated = true; // asked again when the decision is said again
        } else if (decision.granted()) {
            claim.granted = true;
            claim.clock = decision.clock();
            claim.outcome.accept(null);
        } else {
            end(claim);
            claim.outcome.accept(new ClaimRefusedException(ReasonCode.NOT_AUTHORIZED));
        }
    }

    /** Ends a claim whose session was opened or failed to open; returns whether the session may be open. */
    boolean settled(ClientIdentity client) {
        Open claim = byClient.get(client);
        if (claim == null) {
            return false;
        }
        if (claim.granted) {
            local.claimed(client.clientId(), claim.clock);
            owned.accept(client.clientId(), claim.clock);
        }
        end(claim);
        return claim.granted;
    }

    /** Ends a granted claim without a session: this node does not own the identifier. */
    void abandon(ClientIdentity client) {
        Open claim = byClient.get(client);
        if (claim != null) {
            end(claim);
        }
    }

    private void end(Open claim) {
        byNumber.remove(claim.number);
        byClient.remove(claim.client);
        byClientId.computeIfPresent(claim.client.clientId(), (id, claims) -> {
            claims.remove(claim);
            return claims.isEmpty() ? null : claims;
        });
        if (!claim.asked.isEmpty()) {
            wire.send(claim.asked, new Frame.Settled(claim.number, claim.client.clientId()));
        }
    }

    private void refuse(Open claim, String text) {
        end(claim);
        if (lines.allows(text)) {
            LOG.warn("no session begins for {}: {}", LogText.escape(claim.client.clientId()), text);
        }
        claim.outcome.accept(new ClaimRefusedException(ReasonCode.SERVER_UNAVAILABLE, text));
    }

    /** Called when nodes have joined or left: undecided claims may have another coordinator. */
    void viewChanged() {
        for (Open claim : new ArrayList<>(byNumber.values())) {
            String clientId = claim.client.clientId();
            if (!claim.granted
                    && !Coordinator.of(clientId, wire.self().nodeId(), wire.others())
                            .equals(claim.asked)) {
                ask(claim);
            }
        }
    }

    void tick(long nowNanos) {
        List<Open> all = new ArrayList<>(byNumber.values());
        for (Open claim : all) {
            if (claim.granted) {
                continue;
            }
            String doubt = claim.doubt;
            if (doubt != null && nowNanos - claim.sinceNanos >= DOUBT_NANOS) {
                refuse(claim, doubt);
            } else if (nowNanos - claim.sinceNanos >= PATIENCE_NANOS) {
                end(claim);
                claim.outcome.accept(new ClaimRefusedException(ReasonCode.SERVER_UNAVAILABLE));
            } else if (nowNanos - claim.askedAtNanos >= retryNanos) {
                ask(claim);
            }
        }
    }
}
