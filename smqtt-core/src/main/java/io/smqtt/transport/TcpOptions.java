// SPDX-License-Identifier: Apache-2.0
package io.smqtt.transport;

import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.channel.epoll.EpollChannelOption;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.socket.nio.NioChannelOption;
import io.smqtt.thread.OnEventLoop;
import java.net.SocketOption;
import java.time.Duration;
import jdk.net.ExtendedSocketOptions;
import org.jspecify.annotations.Nullable;

/**
 * Options of a TCP connection by which the operating system notices that the peer is gone. Zero leaves an option as the operating system has it.
 *
 * @param idle the time without data after which TCP asks the peer, in whole seconds
 * @param interval the time between such questions, in whole seconds
 * @param count the number of questions without an answer after which the connection ends
 * @param userTimeout the longest time for which data may be unacknowledged; without effect on event loops that are not on epoll
 */
public record TcpOptions(Duration idle, Duration interval, int count, Duration userTimeout) {

    /**
     * Sets the options.
     *
     * @param channel a TCP channel, before it is connected
     */
    @OnEventLoop
    public void set(Channel channel) {
        boolean epoll = channel instanceof EpollSocketChannel;
        set(channel, epoll ? EpollChannelOption.TCP_KEEPIDLE : nio(ExtendedSocketOptions.TCP_KEEPIDLE), seconds(idle));
        set(
                channel,
                epoll ? EpollChannelOption.TCP_KEEPINTVL : nio(ExtendedSocketOptions.TCP_KEEPINTERVAL),
                seconds(interval));
        set(channel, epoll ? EpollChannelOption.TCP_KEEPCNT : nio(ExtendedSocketOptions.TCP_KEEPCOUNT), count);
        set(channel, epoll ? EpollChannelOption.TCP_USER_TIMEOUT : null, (int) userTimeout.toMillis());
    }

    private static int seconds(Duration time) {
        return time.isZero() ? 0 : (int) Math.max(1, time.toSeconds());
    }

    private static ChannelOption<Integer> nio(SocketOption<Integer> option) {
        return NioChannelOption.of(option);
    }

    private static void set(Channel channel, @Nullable ChannelOption<Integer> option, int value) {
        if (option != null && value > 0) {
            channel.config().setOption(option, value);
        }
    }
}
