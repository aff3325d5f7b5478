// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.ban;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.smqtt.access.AddressRange;
import io.smqtt.config.AutomaticBansConfig;
import io.smqtt.message.ReasonCode;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.spi.ClientNetwork;
import io.smqtt.spi.ConnectRefusal;
import io.smqtt.spi.LifecycleObserver;
import io.smqtt.spi.Ticker;
import io.smqtt.thread.AnyThread;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Bans client identifiers that connect and disconnect again and again, and addresses whose logins are refused again and again. Counts what
 * happens at this node, for at most 16 MiB of identifiers and addresses; what is forgotten for lack of room is counted anew.
 */
@AnyThread
public final class BanDetection implements LifecycleObserver {

    static final String FLAPPING = "flapping";
    static final String REFUSED_LOGINS = "refused_logins";

    private static final long MAX_WEIGHT = 8 << 20;
    private static final int ENTRY_WEIGHT = 128; // the entry, its key and its count
    private static final int NETWORK_BITS = 64;

    private final AutomaticBansConfig config;
    private final List<AddressRange> never;
    private final BanPart part;
    private final Cache<String, Count> disconnects;
    private final Cache<InetAddress, Count> refusals;
    private final Ticker ticker;

    /** How often something has happened, and since when. */
    private record Count(int times, long sinceNanos) {

        /** This event and the former ones of the window. */
        static Count next(@Nullable Count before, long now, Duration window) {
            return before == null || now - before.sinceNanos > window.toNanos()
                    ? new Count(1, now)
                    : new Count(before.times + 1, before.sinceNanos);
        }
    }

    /**
     * Creates the detection of a node.
     *
     * @param config what is counted, and how long a ban is
     * @param part makes the bans
     * @param ticker the time of the windows
     */
    public BanDetection(AutomaticBansConfig config, BanPart part, Ticker ticker) {
        this.config = config;
        this.part = part;
        this.ticker = ticker;
        never = config.never().stream()
                .map(AddressRange::parse)
                .map(Objects::requireNonNull)
                .toList();
        disconnects = cache(config.disconnectWindow());
        refusals = cache(config.refusedLoginWindow());
    }

    private <K> Cache<K, Count> cache(Duration window) {
        return Caffeine.newBuilder()
                .maximumWeight(MAX_WEIGHT)
                .weigher((K key, Count count) ->
                        ENTRY_WEIGHT + (key instanceof String text ? 2 * text.length() : NETWORK_BITS))
                .expireAfterWrite(window)
                .ticker(ticker::nanoTime)
                .executor(Runnable::run)
                .build();
    }

    @Override
    public void clientDisconnected(ClientIdentity client, ReasonCode reason) {
        if (config.maxDisconnects() == 0 || !isOwnDoing(reason) || isExcepted(client.remoteAddress())) {
            return;
        }
        if (reached(disconnects, client.clientId(), config.maxDisconnects(), config.disconnectWindow())) {
            ban(
                    BanKind.CLIENTID,
                    client.clientId(),
                    FLAPPING,
                    config.maxDisconnects() + " disconnects within " + text(config.disconnectWindow()),
                    config.disconnectBan());
        }
    }

    /** Whether the client or its network has caused the end of a connection, not the broker or another client. */
    private static boolean isOwnDoing(ReasonCode reason) {
        return switch (reason) {
            case SESSION_TAKEN_OVER,
                    SERVER_SHUTTING_DOWN,
                    ADMINISTRATIVE_ACTION,
                    USE_ANOTHER_SERVER,
                    SERVER_MOVED,
                    SERVER_BUSY -> false;
            default -> true;
        };
    }

    @Override
    public void connectRefused(ConnectRefusal refusal) {
        InetAddress address = refusal.remoteAddress().getAddress();
        boolean login = refusal.reason() == ReasonCode.BAD_USER_NAME_OR_PASSWORD
                || refusal.reason() == ReasonCode.NOT_AUTHORIZED;
        if (config.maxRefusedLogins() == 0
                || !login
                || address == null
                || address.isLoopbackAddress()
                || isExcepted(refusal.remoteAddress())) {
            return;
        }
        InetAddress network = ClientNetwork.of(address);
        if (reached(refusals, network, config.maxRefusedLogins(), config.refusedLoginWindow())) {
            boolean wide = network instanceof Inet6Address;
            ban(
                    wide ? BanKind.PEERHOST_NET : BanKind.PEERHOST,
                    wide ? network.getHostAddress() + "/" + NETWORK_BITS : network.getHostAddress(),
                    REFUSED_LOGINS,
                    config.maxRefusedLogins() + " refused logins within " + text(config.refusedLoginWindow()),
                    config.refusedLoginBan());
        }
    }

    private boolean isExcepted(InetSocketAddress address) {
        return !never.isEmpty()
                && address.getAddress() != null
                && never.stream().anyMatch(network -> network.contains(address.getAddress()));
    }

    /** Counts an event; true once for each time that the maximum is reached. */
    private <K> boolean reached(Cache<K, Count> counts, K key, int most, Duration window) {
        long now = ticker.nanoTime();
        Count count = counts.asMap().compute(key, (same, before) -> Count.next(before, now, window));
        if (count.times < most) {
            return false;
        }
        return counts.asMap().remove(key, count);
    }

    private void ban(BanKind as, String who, String cause, String reason, Duration length) {
        Instant now = part.clock().instant().truncatedTo(ChronoUnit.SECONDS);
        part.ban(new Ban(as, as.checked(who), "broker: " + cause, reason, now, now.plus(length)), cause);
    }

    private static String text(Duration window) {
        return window.toString().substring(2).toLowerCase(Locale.ROOT);
    }
}
