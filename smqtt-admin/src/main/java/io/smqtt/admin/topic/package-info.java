// SPDX-License-Identifier: Apache-2.0
/** Live objects for topics: topic metrics, rewrites, automatic subscriptions, delayed publish. */
@NullMarked
package io.smqtt.admin.topic;

import org.jspecify.annotations.NullMarked;
