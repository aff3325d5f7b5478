// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

import io.netty.channel.ChannelFactory;
import io.netty.channel.EventLoop;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** The event loops of a load: epoll where there is one. Any thread may use it, except those of the loops. */
final class LoadEngine implements AutoCloseable {

    private static final long CLOSE_SECONDS = 5;

    private final MultiThreadIoEventLoopGroup group;
    private final boolean epoll = Epoll.isAvailable();
    private final List<LoadLoop> loops = new ArrayList<>();

    LoadEngine(int threads) {
        IoHandlerFactory io = epoll ? EpollIoHandler.newFactory() : NioIoHandler.newFactory();
        group = new MultiThreadIoEventLoopGroup(threads, new DefaultThreadFactory("smqtt-bench", true), io);
        for (EventExecutor executor : group) {
            loops.add(new LoadLoop((EventLoop) executor));
        }
    }

    ChannelFactory<SocketChannel> channels() {
        return epoll ? EpollSocketChannel::new : NioSocketChannel::new;
    }

    boolean isEpoll() {
        return epoll;
    }

    List<LoadLoop> loops() {
        return loops;
    }

    LoadLoop loopOf(ClientSpec spec) {
        return loops.get(Math.floorMod(spec.loopKey(), loops.size()));
    }

    /** Runs an action on every loop, all at a time, and waits for the last. */
    void onEachLoop(Consumer<LoadLoop> action) {
        List<Future<?>> running = new ArrayList<>();
        for (LoadLoop loop : loops) {
            running.add(loop.executor.submit(() -> action.accept(loop)));
        }
        running.forEach(Future::syncUninterruptibly);
    }

    /** The sum over the loops; interval histograms since their last reset. */
    LoadFigures figures(boolean resetInterval) {
        LoadFigures sum = new LoadFigures();
        for (LoadLoop loop : loops) {
            loop.executor.submit(() -> sum.add(loop.figures, resetInterval)).syncUninterruptibly();
        }
        return sum;
    }

    @Override
    public void close() {
        group.shutdownGracefully(0, CLOSE_SECONDS, TimeUnit.SECONDS).awaitUninterruptibly(CLOSE_SECONDS * 1000);
    }
}
