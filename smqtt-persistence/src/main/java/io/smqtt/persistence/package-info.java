// SPDX-License-Identifier: Apache-2.0
/**
 * The embedded store: sessions, their subscriptions and messages, and retained messages in one RocksDB database. One
 * thread takes the operations of all event loops, combines the waiting operations into one batch, and syncs it once; reads are served by
 * another thread from snapshots. Event loops never wait for either.
 */
@NullMarked
package io.smqtt.persistence;

import org.jspecify.annotations.NullMarked;
