// Boost's network library as this folder uses it.
#pragma once
// Executors are those of io_context: no type erasure, one thread.
#define BOOST_ASIO_NO_DEPRECATED
#define BOOST_ASIO_DISABLE_CONCEPTS
#define BOOST_ERROR_CODE_HEADER_ONLY
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/status.hpp>
#include <boost/beast/http/string_body.hpp>

namespace arion {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using tcp = asio::ip::tcp;
using boost::system::error_code;

}  // namespace arion
