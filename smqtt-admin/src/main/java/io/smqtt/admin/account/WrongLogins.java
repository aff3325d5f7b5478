// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.account;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.smqtt.spi.ClientNetwork;
import io.smqtt.spi.Ticker;
import io.smqtt.thread.AnyThread;
import java.net.InetAddress;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Lets logins wait after wrong ones: a minute after the last free one, and twice as long after each further one, up to a quarter of an hour.
 * A quarter of an hour without a login ends that. Wrong logins are counted for a user at an address (IPv6: a /64 network), for an address,
 * and for a user. Where a user has logged in, only the first count is applied: so neither wrong names from the same address nor others
 * elsewhere who try the user's name keep the user out. A device that a login has made known has a count of its own in place of that of the
 * address, so that failed logins of others do not lock the user out on that device. At most 10,000 counters of each kind are kept, and for
 * each user the 100 latest devices and addresses with a successful login.
 */
@AnyThread
final class WrongLogins {

    /** Wrong logins of a user at an address before the next one waits. */
    static final int FREE = 5;

    /** The same of an address, of all users. */
    static final int FREE_OF_ADDRESS = 50;

    /** The same of a user, at all addresses. */
    static final int FREE_OF_USER = 100;

    /** The places of a user that are known; a further one takes the place of the oldest, and of no other user's. */
    static final int PLACES_OF_USER = 100;

    private static final int MAXIMUM = 10_000;
    private static final int MAX_NAME = 100;
    private static final int DEVICE_BYTES = 32;
    private static final Duration FIRST_WAIT = Duration.ofMinutes(1);
    private static final Duration LONGEST_WAIT = Duration.ofMinutes(15);
    private static final int MAX_DOUBLINGS = 4;
    private static final Duration REMEMBERED = Duration.ofDays(30);

    private final Ticker ticker;
    private final Cache<Place, Wrong> byPlace;
    private final Cache<Object, Wrong> byNetwork;
    private final Cache<String, Wrong> byUser;
    private final Cache<String, List<Success>> succeeded;

    /** A right login. */
    private record Success(Place place, long atNanos) {}

    /** The wrong logins of a key, and until when the next one waits. */
    private record Wrong(int count, long untilNanos) {}

    /**
     * A user at an address, on a known device, or as a known caller.
     *
     * @param user the name; empty if no user can have it
     * @param origin the address or network, the hash of the secret of the device, or the caller
     * @param own whether nobody else can be there
     */
    record Place(String user, Object origin, boolean own) {

        static Place of(String user, @Nullable InetAddress address) {
            return new Place(known(user), address == null ? "" : ClientNetwork.of(address), false);
        }

        /** The place of a caller who is logged in already, and confirms a password. */
        static Place of(String user, Caller caller) {
            return new Place(known(user), caller, true);
        }

        private static Place ofDevice(String user, String device) {
            return new Place(known(user), Secrets.sha256(device), true);
        }

        private static String known(String user) {
            return user.length() > MAX_NAME ? "" : user;
        }
    }

    WrongLogins(Ticker ticker) {
        this.ticker = ticker;
        byPlace = cache(ticker);
        byNetwork = cache(ticker);
        byUser = cache(ticker);
        succeeded = Caffeine.newBuilder()
                .maximumSize(MAXIMUM)
                .expireAfterWrite(REMEMBERED)
                .ticker(ticker::nanoTime)
                .executor(Runnable::run)
                .build();
    }

    private static <K> Cache<K, Wrong> cache(Ticker ticker) {
        return Caffeine.newBuilder()
                .maximumSize(MAXIMUM)
                .expireAfterWrite(LONGEST_WAIT)
                .ticker(ticker::nanoTime)
                .executor(Runnable::run)
                .build();
    }

    /** The place of a login: its device if that is one of the user, else its address. */
    Place place(String user, LoginSource source) {
        String device = source.device();
        if (device != null && !device.isEmpty()) {
            Place place = Place.ofDevice(user, device);
            if (isKnown(place)) {
                return place;
            }
        }
        return Place.of(user, source.address());
    }

    /** Makes a device of a user known, after a login; returns its secret. */
    String newDevice(String user) {
        String device = Secrets.random(DEVICE_BYTES);
        know(Place.ofDevice(user, device));
        return device;
    }

    /** How long a login has to wait; null if it need not. */
    @Nullable
    Duration wait(Place place) {
        long left = left(byPlace.getIfPresent(place), FREE);
        if (!hasSucceeded(place)) {
            left = Math.max(left, left(byNetwork.getIfPresent(place.origin), FREE_OF_ADDRESS));
            left = Math.max(left, left(byUser.getIfPresent(place.user), FREE_OF_USER));
        }
        return left <= 0 ? null : Duration.ofNanos(left).plusSeconds(1).truncatedTo(ChronoUnit.SECONDS);
    }

    private long left(@Nullable Wrong wrong, int free) {
        return wrong == null || wrong.count < free ? 0 : wrong.untilNanos - ticker.nanoTime();
    }

    private boolean hasSucceeded(Place place) {
        return place.own || isKnown(place);
    }

    private boolean isKnown(Place place) {
        List<Success> all = succeeded.getIfPresent(place.user);
        return all != null && all.stream().anyMatch(one -> one.place.equals(place) && isRecent(one));
    }

    private boolean isRecent(Success one) {
        return ticker.nanoTime() - one.atNanos < REMEMBERED.toNanos();
    }

    private void know(Place place) {
        Success now = new Success(place, ticker.nanoTime());
        succeeded.asMap().merge(place.user, List.of(now), (before, one) -> {
            List<Success> all = new ArrayList<>(before);
            all.removeIf(other -> other.place.equals(place) || !isRecent(other));
            all.add(now);
            return List.copyOf(all.subList(Math.max(0, all.size() - PLACES_OF_USER), all.size()));
        });
    }

    /**
     * Counts a login before its password is checked, so that many at a time are counted, too. Where the user has logged in before, the counts of
     * the address and of the user are neither applied nor changed: an own account must not end the wait of others at its address.
     */
    void begin(Place place) {
        count(byPlace, place, FREE);
        if (!hasSucceeded(place)) {
            count(byNetwork, place.origin, FREE_OF_ADDRESS);
            count(byUser, place.user, FREE_OF_USER);
        }
    }

    private <K> void count(Cache<K, Wrong> all, K key, int free) {
        long now = ticker.nanoTime();
        all.asMap().merge(key, new Wrong(1, now), (before, one) -> {
            int count = before.count + 1;
            Duration wait = FIRST_WAIT.multipliedBy(1L << Math.min(Math.max(count - free, 0), MAX_DOUBLINGS));
            return new Wrong(count, now + Math.min(wait.toNanos(), LONGEST_WAIT.toNanos()));
        });
    }

    /** The password was right. */
    void succeeded(Place place) {
        cancel(place);
        know(place);
    }

    /**
     * The password was right, or was not checked. Earlier wrong logins stay counted: else who has one password could try as many others as he
     * likes.
     */
    void cancel(Place place) {
        uncount(byPlace, place);
        if (!hasSucceeded(place)) {
            uncount(byNetwork, place.origin);
            uncount(byUser, place.user);
        }
    }

    private <K> void uncount(Cache<K, Wrong> all, K key) {
        all.asMap().computeIfPresent(key, (same, before) -> new Wrong(before.count - 1, ticker.nanoTime()));
    }
}
