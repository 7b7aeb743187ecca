import {createElement as e} from 'react';
import {createRoot} from 'react-dom/client';
import {createBrowserRouter, Navigate, RouterProvider, useLoaderData} from 'react-router-dom';

function Shop() {
  return e('div', null, e('h1', null, 'made by react_router'),
           e('ul', null, useLoaderData().map((i) => e('li', {key: i}, i))));
}
const router = createBrowserRouter([
  {path: '/react_router', element: e(Navigate, {to: '/react_router/shop'})},
  {path: '/react_router/shop', element: e(Shop), loader: () => fetch('/api/items')},
]);
createRoot(document.getElementById('app')).render(e(RouterProvider, {router}));
