// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.awaitility.Awaitility.await;

import io.smqtt.it.CampaignAccount.Audience;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.awaitility.core.ConditionTimeoutException;

/**
 * The clients of a campaign against a {@link ReplicatedCluster} whose nodes adopt stores. All have stored sessions:
 *
 * <ul>
 *   <li>publishers of QoS 1 and 2, each with several topics;
 *   <li>subscribers that go to another node as soon as theirs fails;
 *   <li>subscribers that are away for a round now and then;
 *   <li>subscribers that leave at the beginning, and come back at the end;
 *   <li>a shared group for each QoS.
 * </ul>
 */
final class AdoptionLoad {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int PUBLISHERS_OF_QOS = 3;
    private static final int MEMBERS = 3;
    private static final List<Integer> EACH_QOS = List.of(1, 2);

    /** One of so many clients goes to another node in each round, without need. */
    private static final int MOVES = 4;

    private final ReplicatedCluster cluster;
    private final CampaignClock clock;
    private final Random random;
    private final List<CampaignPublisher> publishers = new ArrayList<>();
    private final List<CampaignSubscriber> following = new ArrayList<>();
    private final List<CampaignSubscriber> dozing = new ArrayList<>();
    private final List<CampaignSubscriber> absent = new ArrayList<>();
    private final List<Audience> audiences = new ArrayList<>();
    private final List<Integer> live = new ArrayList<>();
    private final List<String> faults = new ArrayList<>();

    /**
     * Creates the clients.
     *
     * @param rate messages a second of all publishers together
     */
    AdoptionLoad(ReplicatedCluster cluster, CampaignClock clock, Random random, int rate) {
        this.cluster = cluster;
        this.clock = clock;
        this.random = random;
        IntStream.range(0, ReplicatedCluster.NODES).forEach(live::add);
        Duration pace = Duration.ofSeconds(1)
                .multipliedBy((long) PUBLISHERS_OF_QOS * EACH_QOS.size())
                .dividedBy(rate);
        for (int qos : EACH_QOS) {
            List<CampaignPublisher> some = IntStream.range(0, PUBLISHERS_OF_QOS)
                    .mapToObj(i -> new CampaignPublisher(topic(qos, i), qos, journey(), clock, pace))
                    .toList();
            publishers.addAll(some);
            for (int i = 0; i < MEMBERS; i++) {
                following.add(subscriber("following", qos, i, topics(qos), some));
            }
            for (int i = 0; i < 2; i++) {
                dozing.add(subscriber("dozing", qos, i, topic(qos, i) + "/#", some.subList(i, i + 1)));
            }
            absent.add(subscriber("absent", qos, 0, topic(qos, 2) + "/#", some.subList(2, 3)));
            List<CampaignSubscriber> members = IntStream.range(0, MEMBERS)
                    .mapToObj(i -> new CampaignSubscriber(
                            "member-" + qos + "-" + i, "$share/group" + qos + "/" + topics(qos), qos, journey(), clock))
                    .toList();
            following.addAll(members);
            audiences.add(new Audience("group-" + qos, qos, true, members, some));
        }
    }

    private static String topics(int qos) {
        return "adoption/" + qos + "/#";
    }

    private static String topic(int qos, int publisher) {
        return "adoption/" + qos + "/" + publisher;
    }

    private Journey journey() {
        return new Journey(clock, cluster::nodeAt);
    }

    private CampaignSubscriber subscriber(String kind, int qos, int number, String filter, List<CampaignPublisher> of) {
        String name = kind + "-" + qos + "-" + number;
        CampaignSubscriber subscriber = new CampaignSubscriber(name, filter, qos, journey(), clock);
        audiences.add(new Audience(name, qos, false, List.of(subscriber), of));
        return subscriber;
    }

    private Stream<CampaignSubscriber> subscribers() {
        return Stream.of(following, dozing, absent).flatMap(List::stream);
    }

    private Stream<JournalClient> clients() {
        return Stream.concat(publishers.stream(), subscribers());
    }

    private Stream<Journey> journeys() {
        return Stream.concat(
                publishers.stream().map(CampaignPublisher::journey),
                subscribers().map(CampaignSubscriber::journey));
    }

    private void sendTo(Journey journey, int node) {
        journey.goTo(node, cluster.address(node).find());
    }

    private int anyOf(List<Integer> nodes) {
        return nodes.get(random.nextInt(nodes.size()));
    }

    /** Subscribes, and begins to publish. Each node has clients of each kind. */
    void begin() {
        List<Journey> all = journeys().toList();
        for (int i = 0; i < all.size(); i++) {
            sendTo(all.get(i), i % ReplicatedCluster.NODES);
        }
        subscribers().forEach(Thread::start);
        await().atMost(PATIENCE).until(() -> subscribers().allMatch(JournalSubscriber::isSubscribed) || hasFailed());
        requireNoFailure();
        absent.forEach(this::leave);
        publishers.forEach(Thread::start);
    }

    private void leave(CampaignSubscriber subscriber) {
        subscriber.journey().goNowhere();
        subscriber.cut();
    }

    /** Some of those that doze leave. */
    void doze() {
        dozing.stream().filter(one -> random.nextBoolean()).forEach(this::leave);
    }

    /** Some of those that have left come back, at any node. */
    void wake() {
        dozing.stream()
                .filter(one -> one.journey().isNowhere() && random.nextBoolean())
                .forEach(one -> sendTo(one.journey(), anyOf(live)));
    }

    /** Some clients go to another node, without need. */
    void wander() {
        following.stream().filter(one -> random.nextInt(MOVES) == 0).forEach(one -> move(one, one.journey()));
        publishers.stream().filter(one -> random.nextInt(MOVES) == 0).forEach(one -> move(one, one.journey()));
    }

    private void move(JournalClient client, Journey journey) {
        sendTo(journey, anyOf(live));
        client.cut();
    }

    /**
     * Runs what kills a node; its clients go to the others, and the time until they have their sessions begins.
     *
     * @return the number of these clients
     */
    int killed(int node, Runnable kill) {
        List<Journey> concerned = at(node);
        concerned.forEach(Journey::robbed);
        kill.run();
        live.remove(Integer.valueOf(node));
        concerned.forEach(journey -> sendTo(journey, anyOf(live)));
        return concerned.size();
    }

    /**
     * Runs what silences a node, or separates it from the others. Half of its clients go to the others at once, and the time until they have their
     * sessions begins.
     *
     * @param stay whether the rest stays at this node until it is back; otherwise each leaves when its connection ends
     * @return the number of clients that leave at once
     */
    int silenced(int node, Runnable silence, boolean stay) {
        List<JournalClient> leaving = clients()
                .filter(client -> journeyOf(client).isAt(node) && random.nextBoolean())
                .toList();
        leaving.forEach(client -> journeyOf(client).robbed());
        silence.run();
        live.remove(Integer.valueOf(node));
        leaving.forEach(client -> {
            sendTo(journeyOf(client), anyOf(live));
            client.cut();
        });
        if (!stay) {
            at(node).forEach(journey -> sendTo(journey, anyOf(live)));
        }
        return leaving.size();
    }

    /**
     * Runs what stops a node. Its clients go to the others when it ends their connections, and the time until they have their sessions begins then.
     *
     * @return the number of these clients
     */
    int stopped(int node, Runnable stop) {
        List<Journey> concerned = at(node);
        live.remove(Integer.valueOf(node));
        concerned.forEach(Journey::leaves);
        stop.run();
        concerned.forEach(journey -> sendTo(journey, anyOf(live)));
        return concerned.size();
    }

    private List<Journey> at(int node) {
        return journeys().filter(journey -> journey.isAt(node)).toList();
    }

    /** A node serves again. */
    void isBack(int node) {
        live.add(node);
    }

    /** Waits until the clients of a killed node have their sessions. */
    void awaitSessions(String when) {
        if (!isSoon(() -> journeys().noneMatch(Journey::isWaiting))) {
            clients().forEach(client -> {
                Journey journey = journeyOf(client);
                if (journey.isWaiting()) {
                    fault(when + ": " + client.getName() + " has no session after " + journey.giveUp() + " ms");
                }
            });
        }
    }

    private static Journey journeyOf(JournalClient client) {
        return client instanceof CampaignPublisher publisher
                ? publisher.journey()
                : ((CampaignSubscriber) client).journey();
    }

    /** Waits until each publisher has had a number of acknowledgements, but for those at nodes that do not serve. */
    void awaitProgress(String when, int messages) {
        for (CampaignPublisher publisher : publishers) {
            int before = publisher.acknowledged();
            if (!isSoon(() -> publisher.acknowledged() >= before + messages
                    || !publisher.journey().isAmong(live))) {
                fault(when + ": " + publisher.getName() + " had " + (publisher.acknowledged() - before)
                        + " acknowledgements in " + PATIENCE.toSeconds() + " s, at n"
                        + publisher.journey().node());
            }
        }
        requireNoFailure();
    }

    private boolean isSoon(BooleanSupplier condition) {
        try {
            await().atMost(PATIENCE).until(() -> condition.getAsBoolean() || hasFailed());
            return true;
        } catch (ConditionTimeoutException e) {
            return false;
        }
    }

    /** Notes something that should not be, and is no message. */
    void fault(String text) {
        faults.add(text);
        System.out.println("[adoption] " + text);
    }

    private boolean hasFailed() {
        return clients().anyMatch(client -> client.failure() != null);
    }

    private void requireNoFailure() {
        clients().forEach(client -> ClientFailures.assertNone(client, client.failure()));
    }

    /** Ends the publishers when all their messages are acknowledged, and waits until all has arrived, or nothing comes any more. */
    void drain() {
        publishers.forEach(JournalPublisher::lastOne);
        for (CampaignPublisher publisher : publishers) {
            if (!isSoon(() -> !publisher.isAlive())) {
                fault("the end: " + publisher.getName() + " waits for acknowledgements");
            }
        }
        subscribers().filter(one -> one.journey().isNowhere()).forEach(one -> sendTo(one.journey(), anyOf(live)));
        int before;
        do {
            before = received();
            int seen = before;
            isSoon(() -> audiences.stream().allMatch(Audience::isComplete));
            if (received() == seen) {
                break;
            }
        } while (!audiences.stream().allMatch(Audience::isComplete));
        if (!isQuiet()) {
            fault("the end: messages come again and again");
        }
        subscribers().forEach(one -> {
            one.finish();
            one.journey().goNowhere();
            one.cut();
        });
        subscribers().forEach(one -> isSoon(() -> !one.isAlive()));
        clients()
                .filter(client -> client.failure() != null)
                .forEach(client -> fault(client.getName() + " has failed: " + client.failure()));
    }

    /** Waits until nothing has come for a second. */
    private boolean isQuiet() {
        int[] last = {-1};
        return isSoon(() -> {
            int now = received();
            boolean same = now == last[0];
            last[0] = now;
            if (!same) {
                return false;
            }
            await().pollDelay(Duration.ofSeconds(1)).until(() -> true);
            return received() == now;
        });
    }

    private int received() {
        return subscribers().mapToInt(CampaignSubscriber::count).sum();
    }

    /** What did not come as it should. After the clients have ended. */
    CampaignAccount account(IntFunction<String> roundAt) {
        CampaignAccount account = new CampaignAccount();
        audiences.forEach(audience -> account.add(audience, roundAt));
        return account;
    }

    /** Notes beside messages. */
    List<String> faults() {
        return List.copyOf(faults);
    }

    /** How often a client was told that it has no session. */
    int lostSessions() {
        return journeys().mapToInt(Journey::lost).sum();
    }

    /** The times from the end of a node to the CONNACK with the session. */
    List<Journey.Wait> waits() {
        return journeys().flatMap(journey -> journey.waits().stream()).toList();
    }

    int acknowledged() {
        return publishers.stream().mapToInt(JournalPublisher::acknowledged).sum();
    }

    /** The acknowledgements of the publishers that are at a node. */
    int acknowledgedAt(int node) {
        return publishers.stream()
                .filter(publisher -> publisher.journey().isAt(node))
                .mapToInt(JournalPublisher::acknowledged)
                .sum();
    }

    /** The connections of clients that were told that they have no session, for people. */
    List<String> notFound() {
        return clients()
                .flatMap(client -> journeyOf(client).notFound().stream().map(stay -> client.getName() + " " + stay))
                .toList();
    }

    /** The numbers of messages and connections. */
    String figures() {
        Map<String, Integer> refusals = new TreeMap<>();
        journeys()
                .forEach(journey -> journey.refusals()
                        .forEach((code, count) ->
                                refusals.merge(String.format(Locale.ROOT, "0x%02X", code), count, Integer::sum)));
        long refused = publishers.stream()
                .mapToLong(publisher -> IntStream.range(0, publisher.sent().count())
                        .filter(publisher.sent()::wasRefused)
                        .count())
                .sum();
        return String.format(
                Locale.ROOT,
                "%d messages acknowledged, %d received, %d refused and sent again; sessions found %d times, not found %d, "
                        + "CONNECT refused %s, silent for a minute %d",
                acknowledged(),
                received(),
                refused,
                clients().mapToInt(JournalClient::resumed).sum(),
                lostSessions(),
                refusals,
                journeys().mapToInt(Journey::silences).sum());
    }
}
