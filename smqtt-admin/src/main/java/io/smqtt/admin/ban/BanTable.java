// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.ban;

import io.smqtt.access.AddressRange;
import io.smqtt.spi.Bans;
import io.smqtt.thread.AnyThread;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The bans in force, as CONNECT looks them up: identifiers, user names and addresses by hash, patterns and networks one after the other.
 * Changed by one thread; without bans a look-up is one volatile read.
 */
@AnyThread
final class BanTable implements Bans {

    private final InstantSource clock;
    private final Map<String, Ban> clientIds = new ConcurrentHashMap<>();
    private final Map<String, Ban> userNames = new ConcurrentHashMap<>();
    private final Map<InetAddress, Ban> addresses = new ConcurrentHashMap<>();
    private final Map<String, Ban> patterns = new HashMap<>(); // by identifier; of the thread that changes

    private volatile List<Compared<BanPattern>> clientIdPatterns = List.of();
    private volatile List<Compared<BanPattern>> userNamePatterns = List.of();
    private volatile List<Compared<AddressRange>> networks = List.of();
    private volatile boolean empty = true;

    BanTable(InstantSource clock) {
        this.clock = clock;
    }

    /**
     * A ban with what it is compared by.
     *
     * @param ban the ban
     * @param test its pattern or network
     */
    private record Compared<T>(Ban ban, T test) {}

    @Override
    public boolean isBanned(String clientId, @Nullable String userName, InetSocketAddress address) {
        if (empty) {
            return false;
        }
        InetAddress host = address.getAddress();
        return isInForce(clientIds.get(clientId))
                || (userName != null && isInForce(userNames.get(userName)))
                || (host != null && isInForce(addresses.get(host)))
                || matches(clientIdPatterns, clientId)
                || (userName != null && matches(userNamePatterns, userName))
                || (host != null && isInside(host));
    }

    private boolean isInForce(@Nullable Ban ban) {
        return ban != null && !ban.hasEnded(clock.instant());
    }

    private boolean matches(List<Compared<BanPattern>> all, String text) {
        for (Compared<BanPattern> one : all) {
            if (one.test.isFoundIn(text) && isInForce(one.ban)) {
                return true;
            }
        }
        return false;
    }

    private boolean isInside(InetAddress host) {
        for (Compared<AddressRange> one : networks) {
            if (one.test.contains(host) && isInForce(one.ban)) {
                return true;
            }
        }
        return false;
    }

    /** Adds a ban, or replaces the one of the same kind for the same. */
    void put(Ban ban) {
        switch (ban.as()) {
            case CLIENTID -> clientIds.put(ban.who(), ban);
            case USERNAME -> userNames.put(ban.who(), ban);
            case PEERHOST -> addresses.put(BanKind.address(ban.who()), ban);
            default -> {
                patterns.put(ban.id(), ban);
                compile(ban.as());
            }
        }
        empty = false;
    }

    void remove(BanKind as, String who) {
        switch (as) {
            case CLIENTID -> clientIds.remove(who);
            case USERNAME -> userNames.remove(who);
            case PEERHOST -> addresses.remove(BanKind.address(who));
            default -> {
                patterns.remove(Ban.id(as, who));
                compile(as);
            }
        }
        empty = clientIds.isEmpty() && userNames.isEmpty() && addresses.isEmpty() && patterns.isEmpty();
    }

    private void compile(BanKind as) {
        switch (as) {
            case CLIENTID_RE -> clientIdPatterns = compiled(as, BanPattern::of);
            case USERNAME_RE -> userNamePatterns = compiled(as, BanPattern::of);
            default -> networks = compiled(as, BanKind::network);
        }
    }

    private <T> List<Compared<T>> compiled(BanKind as, Function<String, T> test) {
        return patterns.values().stream()
                .filter(ban -> ban.as() == as)
                .map(ban -> new Compared<>(ban, test.apply(ban.who())))
                .toList();
    }
}
