// SPDX-License-Identifier: Apache-2.0
package io.smqtt.test.store;

import static io.smqtt.test.store.StoreSamples.fullMessage;
import static io.smqtt.test.store.StoreSamples.message;
import static io.smqtt.test.store.StoreSamples.queued;
import static io.smqtt.test.store.StoreSamples.session;
import static io.smqtt.test.store.StoreSamples.subscription;
import static io.smqtt.test.store.StoreSamples.text;
import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.message.QoS;
import io.smqtt.message.Will;
import io.smqtt.spi.StoreWriter;
import io.smqtt.spi.StoredDelivery;
import io.smqtt.spi.StoredQueue;
import io.smqtt.spi.StoredSession;
import io.smqtt.spi.StoredSubscription;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/**
 * The contract of a store for sessions, their subscriptions and the packet identifiers that they have received. Extend {@link
 * BrokerStoreContract}, which has the rest.
 */
public abstract class SessionStoreContract extends StoreContractBase {

    static final StoredDelivery SENT = new StoredDelivery(StoredDelivery.State.SENT, 65_535);

    SessionStoreContract() {}

    // --- sessions ---

    @Test
    void aSessionComesBackWithAllThatIsKnownOfIt() {
        Will will = StoreSamples.will(fullMessage(ticker().nanoTime(), 60));
        StoredSession full = new StoredSession(
                number(),
                "ein Gerät/…🌡",
                "user",
                Set.of("a", "ö"),
                4_294_967_295L,
                StoredSession.NEVER,
                will,
                123_456);
        StoredSession bare = session(number(), "");

        loop().commit(writer -> {
            writer.putSession(full);
            writer.putSession(bare);
        });
        reopen();

        StoredSession found = recovered().session(full.number()).header();
        assertThat(found).usingRecursiveComparison().ignoringFields("will").isEqualTo(full);
        Will foundWill = Objects.requireNonNull(found.will());
        assertThat(foundWill.delaySeconds()).isEqualTo(4_294_967_295L);
        assertThat(text(foundWill.message())).isEqualTo(text(will.message()));
        assertThat(recovered().session(bare.number()).header()).isEqualTo(bare);
        assertThat(recovered().session(bare.number()).waiting()).isEqualTo(new StoredQueue(1, 1, 0, 0));
    }

    @Test
    void aHeaderCanBeWrittenAnewAndTheRestStays() {
        long number = number();
        loop().commit(writer -> {
            writer.putSession(session(number, "a"));
            writer.putSubscription(number, subscription("f", 1));
            writer.putMessage(number, queued(1, message("t", "1")));
        });
        long deadline = store().clockMillis() + 1_000_000;
        StoredSession offline = new StoredSession(number, "a", "user", 1_000, deadline, null, StoredSession.CONNECTED);

        loop().commit(writer -> writer.putSession(offline));
        reopen();

        assertThat(recovered().session(number).header()).isEqualTo(offline);
        assertThat(recovered().session(number).subscriptions()).containsOnlyKeys("f");
        assertThat(payloads(number)).containsExactly("1");
    }

    @Test
    void aRemovedSessionLeavesNothing() {
        long gone = number();
        long stays = number();
        for (long number : new long[] {gone, stays}) {
            loop().commit(writer -> fill(writer, number, "client-" + number));
        }

        loop().commit(writer -> writer.removeSession(gone, "client-" + gone));

        assertThat(payloads(gone)).isEmpty();
        reopen();
        assertThat(recovered().sessions()).containsOnlyKeys(stays);
        assertThat(recovered().session(stays).subscriptions()).containsOnlyKeys("f/+", "$share/g/f/+");
        assertThat(recovered().session(stays).received()).containsExactly(7);
        assertThat(payloads(stays)).containsExactly("1", "2");
        assertThat(payloads(gone)).isEmpty();
    }

    @Test
    void aClientsNewSessionTakesNothingFromTheOldOne() {
        long old = number();
        long fresh = number();
        loop().commit(writer -> fill(writer, old, "client"));

        loop().commit(writer -> {
            writer.removeSession(old, "client");
            writer.putSession(session(fresh, "client"));
        });
        reopen();

        assertThat(recovered().sessions()).containsOnlyKeys(fresh);
        assertThat(recovered().session(fresh).subscriptions()).isEmpty();
        assertThat(recovered().session(fresh).received()).isEmpty();
        assertThat(payloads(fresh)).isEmpty();
    }

    @Test
    void theOldSessionCanBeRemovedAfterTheNewOneWasWritten() {
        long old = number();
        long fresh = number();
        loop().commit(writer -> fill(writer, old, "client"));

        loop().commit(writer -> {
            fill(writer, fresh, "client");
            writer.removeSession(old, "client");
        });
        reopen();

        assertThat(recovered().sessions()).containsOnlyKeys(fresh);
        assertThat(payloads(fresh)).containsExactly("1", "2");
    }

    @Test
    void aSessionThatCameAndWentInOneFlushIsNotThere() {
        long number = number();
        loop().commit(writer -> {
            fill(writer, number, "client");
            writer.removeSession(number, "client");
        });
        reopen();

        assertThat(recovered().sessions()).isEmpty();
        assertThat(payloads(number)).isEmpty();
    }

    @Test
    void numbersOfSessionsAreNeverGivenTwice() {
        Set<Long> numbers = new HashSet<>();
        for (int run = 0; run < 3; run++) {
            LongStream.range(0, 1_000)
                    .forEach(i -> assertThat(numbers.add(number())).isTrue());
            reopen();
        }
        useCopy();
        LongStream.range(0, 1_000)
                .forEach(i -> assertThat(numbers.add(number())).isTrue());

        assertThat(numbers).allMatch(number -> number >= 1);
    }

    // --- subscriptions and received identifiers ---

    @Test
    void subscriptionsComeBackWithTheirOptions() {
        long number = number();
        StoredSubscription a = new StoredSubscription("a", QoS.AT_MOST_ONCE, true, false, 268_435_455);
        StoredSubscription b = new StoredSubscription("a/b", QoS.EXACTLY_ONCE, false, true, 0);
        StoredSubscription c = new StoredSubscription("$share/grüppe/a/#", QoS.AT_LEAST_ONCE, false, false, 1);
        loop().commit(writer -> {
            writer.putSession(session(number, "client"));
            writer.putSubscription(number, a);
            writer.putSubscription(number, b);
            writer.putSubscription(number, c);
        });
        reopen();

        assertThat(recovered().session(number).subscriptions().values()).containsExactlyInAnyOrder(a, b, c);
    }

    @Test
    void aSubscriptionCanBeReplacedAndRemoved() {
        long number = number();
        loop().commit(writer -> {
            writer.putSession(session(number, "client"));
            writer.putSubscription(number, subscription("a", 1));
            writer.putSubscription(number, subscription("a/b", 1));
            writer.putSubscription(number, subscription("b", 1));
        });

        loop().commit(writer -> {
            writer.putSubscription(number, subscription("b", 2));
            writer.removeSubscription(number, "a");
            writer.removeSubscription(number, "never/there");
        });
        reopen();

        assertThat(recovered().session(number).subscriptions().values())
                .containsExactlyInAnyOrder(subscription("a/b", 1), subscription("b", 2));
    }

    @Test
    void receivedIdentifiersComeBackUntilTheyAreReleased() {
        long number = number();
        loop().commit(writer -> {
            writer.putSession(session(number, "client"));
            writer.putReceived(number, 1);
            writer.putReceived(number, 32_768);
            writer.putReceived(number, 65_535);
        });
        loop().commit(writer -> writer.removeReceived(number, 32_768));
        loop().commit(writer -> {
            writer.putReceived(number, 2);
            writer.removeReceived(number, 2);
            writer.removeReceived(number, 3);
            writer.putReceived(number, 3);
        });
        reopen();

        assertThat(recovered().session(number).received()).containsExactly(1, 3, 65_535);
    }

    @Test
    void identifiersOfNextMessagesTakeThePlaceOfReceivedOnes() {
        long number = number();
        loop().commit(writer -> {
            writer.putSession(session(number, "client"));
            writer.putReleased(number, 0, 17);
            writer.putReceived(number, 1);
            writer.putReceived(number, 2);
            writer.putReceived(number, 3);
        });
        loop().commit(writer -> {
            writer.putReleased(number, 1, -1);
            writer.putReleased(number, 2, 5);
            writer.putReceived(number, 2);
            writer.putReleased(number, 3, 6);
            writer.removeReceived(number, 3);
            writer.putReleased(number, 65_535, Long.MIN_VALUE);
        });

        reopen();

        assertThat(recovered().session(number).received()).containsExactly(2);
        assertThat(recovered().session(number).released())
                .containsExactlyInAnyOrderEntriesOf(Map.of(0, 17L, 1, -1L, 65_535, Long.MIN_VALUE));
    }

    /** Writes a session with two subscriptions, a received identifier, and two messages of which the first was sent. */
    final void fill(StoreWriter writer, long number, String clientId) {
        writer.putSession(session(number, clientId));
        writer.putSubscription(number, subscription("f/+", 1));
        writer.putSubscription(number, subscription("$share/g/f/+", 2));
        writer.putReceived(number, 7);
        writer.putMessage(number, queued(1, message("f/1", "1")));
        writer.putMessage(number, queued(2, message("f/2", "2")));
        writer.putDelivery(number, 1, SENT);
    }
}
