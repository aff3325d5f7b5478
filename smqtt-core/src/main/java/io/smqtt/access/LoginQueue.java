// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access;

import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/**
 * A bounded queue of logins with fair scheduling: client networks take turns, and within a network user names do. A network that sends
 * many logins delays a login of another network by one turn. If all clients have the address of a load balancer, guesses of one user's
 * password delay other users by one turn each.
 *
 * <p>If the queue is full, a login of a network with few waiting logins replaces the newest one of the network with the most, unless that
 * would then have fewer; within one network the same applies to user names. Otherwise the new login is refused.
 *
 * <p>Not thread-safe. Each operation takes logarithmic time, except that the removal of a login is linear in the logins of its network and
 * user name.
 *
 * @param <T> the logins
 */
final class LoginQueue<T> {

    private final int capacity;
    private final Round<Network<T>> networks = new Round<>(Network::new);
    private int size;

    LoginQueue(int capacity) {
        this.capacity = capacity;
    }

    int size() {
        return size;
    }

    /** Appends a login. Returns the login that is refused, which may be the new one; null if there was room. */
    @Nullable
    T offer(Object network, String userName, T login) {
        T refused = size < capacity ? null : makeRoom(network, userName);
        if (size >= capacity) {
            return login;
        }
        Network<T> own = networks.of(network);
        User<T> user = own.users.of(userName);
        user.logins.addLast(login);
        own.users.resize(user, 1);
        networks.resize(own, 1);
        size++;
        return refused;
    }

    /** Takes the next login; null if there is none. */
    @Nullable
    T poll() {
        Network<T> network = networks.next();
        User<T> user = network == null ? null : network.users.next();
        if (network == null || user == null) {
            return null;
        }
        T login = user.logins.removeFirst();
        shrink(network, user);
        return login;
    }

    /** Removes a login; does nothing if it is not waiting. */
    void remove(Object network, String userName, T login) {
        Network<T> own = networks.find(network);
        User<T> user = own == null ? null : own.users.find(userName);
        if (own != null && user != null && user.logins.removeLastOccurrence(login)) {
            shrink(own, user);
        }
    }

    private @Nullable T makeRoom(Object network, String userName) {
        Network<T> own = networks.find(network);
        Network<T> largest = networks.largest();
        if (largest == null) {
            return null;
        }
        if (largest.size >= sizeOf(own) + 2) {
            return removeNewest(largest);
        }
        if (own == null) {
            return null;
        }
        User<T> most = own.users.largest();
        return most != null && most.size >= sizeOf(own.users.find(userName)) + 2 ? removeNewest(own) : null;
    }

    private static int sizeOf(@Nullable Party party) {
        return party == null ? 0 : party.size;
    }

    private @Nullable T removeNewest(Network<T> network) {
        User<T> most = network.users.largest();
        if (most == null) {
            return null;
        }
        T newest = most.logins.removeLast();
        shrink(network, most);
        return newest;
    }

    private void shrink(Network<T> network, User<T> user) {
        network.users.resize(user, -1);
        networks.resize(network, -1);
        size--;
    }

    /** A network or user that takes turns. */
    private abstract static class Party {

        private final long number;
        private @Nullable Object key;
        int size;

        Party(long number) {
            this.number = number;
        }
    }

    private static final class Network<T> extends Party {

        private final Round<User<T>> users = new Round<>(User::new);

        Network(long number) {
            super(number);
        }
    }

    private static final class User<T> extends Party {

        private final Deque<T> logins = new ArrayDeque<>(2);

        User(long number) {
            super(number);
        }
    }

    /** Parties in the order of their turns and of their sizes. */
    private static final class Round<P extends Party> {

        private static final Comparator<Party> BY_SIZE =
                Comparator.<Party>comparingInt(party -> party.size).thenComparingLong(party -> party.number);

        private final LongFunction<P> create;
        private final Map<Object, P> turns = new LinkedHashMap<>();
        private final TreeSet<P> bySize = new TreeSet<>(BY_SIZE);
        private long created;

        Round(LongFunction<P> create) {
            this.create = create;
        }

        @Nullable
        P find(Object key) {
            return turns.get(key);
        }

        /** The party with a key; a new party gets the last turn. */
        P of(Object key) {
            return turns.computeIfAbsent(key, absent -> {
                P party = create.apply(created++);
                ((Party) party).key = key;
                return party;
            });
        }

        /** The party whose turn it is; its next turn comes after those of all others. */
        @Nullable
        P next() {
            Iterator<Map.Entry<Object, P>> first = turns.entrySet().iterator();
            if (!first.hasNext()) {
                return null;
            }
            Map.Entry<Object, P> entry = first.next();
            Object key = entry.getKey();
            P party = entry.getValue();
            first.remove();
            turns.put(key, party);
            return party;
        }

        @Nullable
        P largest() {
            return bySize.isEmpty() ? null : bySize.last();
        }

        /** Changes the size of a party, and removes it at 0. */
        void resize(P party, int change) {
            bySize.remove(party);
            party.size += change;
            if (party.size > 0) {
                bySize.add(party);
            } else {
                turns.remove(((Party) party).key);
            }
        }
    }
}
