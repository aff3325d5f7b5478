// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.smqtt.BrokerModule;
import io.smqtt.config.BridgeAddress;
import io.smqtt.config.BridgeConfig;
import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * Tries the first address of a bridge while it is connected to another one, until that answers: for {@code round-robin: false}. An answer is a
 * complete handshake of the transport, and no CONNECT is sent. The time between tries grows as that between attempts, and beyond that after
 * each return to an address that answered and then did not accept the connection.
 */
@AnyThread
final class FirstAddress {

    private static final int MOST_DOUBLINGS = 20;
    private static final int MOST_FAILED_RETURNS = 5;
    private static final int ADDRESSES_OF_HOST = 1_000;

    private final BridgeAddress first;
    private final BridgeConfig config;
    private final Dialler dialler;
    private final BrokerModule.Core core;
    private final IntConsumer answers;

    // guarded by this
    private int round; // changes with each begin and end
    private int tries;
    private int ofHost;
    private boolean returning;
    private int failedReturns;
    private @Nullable Disposable waiting;

    /**
     * Creates the tries of one connection of a bridge.
     *
     * @param answers receives which of the addresses of the host answers, on some thread, while the tries run
     */
    FirstAddress(
            BridgeAddress first, BridgeConfig config, Dialler dialler, BrokerModule.Core core, IntConsumer answers) {
        this.first = first;
        this.config = config;
        this.dialler = dialler;
        this.core = core;
        this.answers = answers;
    }

    /** The bridge is connected. */
    synchronized void connected(boolean toFirst) {
        end();
        if (toFirst) {
            returning = false;
            failedReturns = 0;
            return;
        }
        if (returning) { // and the first one did not accept it
            returning = false;
            failedReturns = Math.min(MOST_FAILED_RETURNS, failedReturns + 1);
        }
        tries = 0;
        next(round);
    }

    /** The bridge is not connected: it makes attempts itself. */
    synchronized void end() {
        round++;
        if (waiting != null) {
            waiting.dispose();
            waiting = null;
        }
    }

    /** The time before the next try, in milliseconds. */
    static long delayMillis(BridgeConfig config, int tries, int failedReturns) {
        long longest = config.maxDelay().toMillis();
        long delay = Math.min(longest, config.minDelay().toMillis() << Math.min(tries, MOST_DOUBLINGS));
        return failedReturns == 0 ? delay : longest << failedReturns;
    }

    private void next(int number) {
        Duration delay = Duration.ofMillis(delayMillis(config, tries, failedReturns));
        int address = ofHost;
        waiting = Mono.delay(delay, Schedulers.parallel())
                .publishOn(Schedulers.boundedElastic())
                .map(tick -> Dialler.resolve(first, address))
                .subscribe(target -> dial(number, target), error -> done(number, false));
    }

    private synchronized void dial(int number, InetSocketAddress target) {
        if (number != round) {
            return;
        }
        ChannelFuture connecting = dialler.dial(core.listeners().outgoing(), first, target, new Answer(number));
        connecting.addListener(connected -> {
            if (!connected.isSuccess()) {
                done(number, false);
            }
        });
    }

    private void done(int number, boolean answered) {
        int address;
        synchronized (this) {
            if (number != round) {
                return;
            }
            address = ofHost;
            if (!answered) {
                tries++;
                ofHost = (ofHost + 1) % ADDRESSES_OF_HOST;
                next(number);
                return;
            }
            returning = true;
        }
        answers.accept(address);
    }

    /** Ends the connection as soon as it is there. */
    @OnEventLoop
    private final class Answer extends ChannelInboundHandlerAdapter {

        private final int number;
        private boolean answered;

        Answer(int number) {
            this.number = number;
        }

        @Override
        public void channelActive(ChannelHandlerContext context) {
            answered = true;
            context.close();
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            done(number, answered);
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            context.close();
        }
    }
}
